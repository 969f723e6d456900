#include "runtime/engine.hpp"

#include "runtime/failure.hpp"
#include "runtime/opening.hpp"
#include "runtime/opening_warnings.hpp"

#include <SQLiteCpp/Database.h>
#include <asio/post.hpp>
#include <asio/strand.hpp>

#include <array>
#include <cstdio>
#include <random>

namespace skein::runtime {

namespace {

std::string make_worker_id()
{
    std::random_device random;
    std::array<char, 17> id{};
    std::snprintf(id.data(), id.size(), "%08x%08x", random(), random());
    return "skein-" + std::string(id.data());
}

/// Ends those that have waited for the lock too long, and notes since when the others do. Returns
/// how many have ended.
template <class Operation>
std::size_t fail_overdue(std::deque<std::shared_ptr<Operation>>& queue, clock::steady_time now,
                         std::chrono::nanoseconds timeout, const error& busy)
{
    for (const auto& each : queue) {
        if (!each->locked_since) {
            each->locked_since = now;
        } else if (now - *each->locked_since >= timeout) {
            each->complete(std::make_exception_ptr(busy));
        }
    }
    return std::erase_if(queue, [](const auto& each) { return each->is_complete(); });
}

} // namespace

engine::open_file::open_file(engine& owner, std::unique_ptr<SQLite::Database> opened)
    : database(std::move(opened)), connection(database->getHandle()),
      files(connection, owner.clock_->make_alarm(owner.strand_), [&owner] { owner.pump(); }),
      writes(owner, *database, *owner.clock_, owner.path_.string(), owner.events_),
      reads(*database, writes.guard(), owner.path_.string(), *owner.clock_, owner.events_),
      checkpoints(connection,
                  [&owner](const std::string& text) { owner.log(log_level::warning, text); }),
      commits_of_others(connection, owner.home_, *owner.clock_, owner.strand_,
                        owner.options_.watch_interval, owner.make_hint(connection),
                        [this, &owner] {
                            waiting.mark_all();
                            owner.pump();
                        }),
      lock(owner.clock_->make_alarm(owner.strand_), [&owner] { owner.pump(); }),
      lines(waiting, connection, *owner.clock_, owner.path_.string()),
      deadline(waiting, connection, owner.home_, *owner.clock_,
               owner.clock_->make_alarm(owner.strand_), [&owner] { owner.pump(); })
{
}

std::shared_ptr<engine> engine::open(const asio::any_io_executor& executor,
                                     const std::filesystem::path& path, database_options options)
{
    const std::shared_ptr<engine> made(
        new engine(executor, path, checked_options(std::move(options))), &engine::let_go);
    context_life::of(executor.context())->watch(made);
    made->log(log_level::info, "opened, SQLite " + std::string(sqlite3_libversion()));
    return made;
}

engine::engine(const asio::any_io_executor& executor, const std::filesystem::path& path,
               database_options options)
    : path_(resolve(path)), options_(std::move(options)),
      clock_(options_.clock ? options_.clock : system_clock()), worker_id_(make_worker_id()),
      events_(options_.observer,
              [this](const std::string& text) { log(log_level::warning, text); }),
      strand_(asio::make_strand(executor)), inbox_([this] { wake(); }),
      file_(std::make_unique<open_file>(*this, open_database(path_, options_)))
{
    length_limit_ = file_->connection.length_limit();
    for (const std::string& each : opening_warnings(file_->connection, options_)) {
        log(log_level::warning, each);
    }
}

/// In a child process everything is leaked on purpose: closing the connection there could delete
/// the log that the parent writes, and what else there is may be locked by threads that do not
/// exist.
void engine::let_go(engine* unused) noexcept
{
    if (!unused->is_left_behind()) {
        delete unused;
    }
}

void engine::require_home() const
{
    if (is_left_behind()) {
        throw forked_error(path_.string());
    }
}

void engine::require_outside_callback(std::string_view instead) const
{
    const callback_guard::mode running = callback_guard::here(*this);
    if (running != callback_guard::mode::off) {
        throw inside_callback_error(path_.string(), running == callback_guard::mode::writing
                                                        ? instead
                                                        : std::string_view());
    }
}

void engine::submit(std::shared_ptr<operation> wanted)
{
    if (is_left_behind()) {
        wanted->complete(std::make_exception_ptr(forked_error(path_.string())));
        return;
    }
    if (!inbox_.put(wanted)) {
        wanted->complete(std::make_exception_ptr(closed_error(path_.string())));
    }
}

void engine::cancel(const std::shared_ptr<operation>& unwanted)
{
    if (is_left_behind()) {
        return;
    }
    unwanted->request_cancel();
    inbox_.put_cancellation(unwanted);
}

void engine::close(std::shared_ptr<operation> closing)
{
    if (is_left_behind() || !inbox_.put_closing(closing)) {
        closing->complete();
    }
}

void engine::add(std::shared_ptr<unit> arrived)
{
    file_->units.push_back(std::move(arrived));
}

void engine::add(std::shared_ptr<reading> arrived)
{
    file_->readings.push_back(std::move(arrived));
}

void engine::add(std::shared_ptr<waiter> arrived)
{
    file_->waiting.join(std::move(arrived), clock_->steady_now());
}

void engine::remove(const unit& leaving)
{
    std::erase_if(file_->units, [&](const auto& each) { return each.get() == &leaving; });
}

void engine::remove(const reading& leaving)
{
    std::erase_if(file_->readings, [&](const auto& each) { return each.get() == &leaving; });
}

void engine::remove(waiter& leaving)
{
    file_->waiting.leave(leaving);
}

void engine::context_ended() noexcept
{
    if (file_ && !is_left_behind()) {
        finish({});
    }
}

/// Called under the inbox's lock, so never once the context has ended.
void engine::wake()
{
    asio::post(strand_, [self = shared_from_this()] { self->drain(); });
}

/// On the strand, as is everything below. A child process that runs a context of its parent's gets
/// here too, and into `pump`.
void engine::drain()
{
    if (!file_ || is_left_behind()) {
        return;
    }
    inbox::contents news = inbox_.take();
    std::vector<std::shared_ptr<operation>> closings = std::move(news.closings);
    take_in(std::move(news));
    if (closings.empty()) {
        pump();
    } else {
        // What would be claimed now could not be acknowledged any more.
        file_->waiting.fail_all(closed_error(path_.string()));
        finish_units();
        finish(std::move(closings));
    }
}

/// Does what came before the closing, unless another process holds the lock.
void engine::finish_units()
{
    file_->lock.forgive();
    do {
        pump();
    } while (!file_->units.empty() && !file_->lock.is_pausing());
}

void engine::take_in(inbox::contents news)
{
    for (std::shared_ptr<operation>& each : news.arrived) {
        operation& arriving = *each;
        if (arriving.is_unwanted()) {
            arriving.complete(cancelled_failure());
        } else {
            arriving.arrive(*this, std::move(each));
        }
    }
    for (const std::weak_ptr<operation>& each : news.cancelled) {
        const std::shared_ptr<operation> unwanted = each.lock();
        if (unwanted && !unwanted->is_complete() && unwanted->withdraw(*this)) {
            unwanted->complete(cancelled_failure());
        }
    }
}

/// Does what there is to do now, and decides what to wait for.
void engine::pump()
{
    if (is_left_behind() || file_->lock.is_pausing()) {
        return;
    }
    try {
        work();
    } catch (const sqlite::error& refusal) {
        if (refusal.is_busy()) {
            wait_for_lock();
        } else {
            fail_everything(to_error(refusal, path_.string()));
        }
    } catch (const error& lost) {
        abandon_file(lost);
    }
}

/// At most one batch: others on the executor get their turn before the next.
void engine::work()
{
    // Nothing may be told from a file, or acknowledged into one, that nobody else sees any more.
    file_->files.check();
    const bool has_waited = file_->lock.is_awaited();
    const clock::steady_time tried = has_waited ? clock_->steady_now() : clock::steady_time();
    const bool is_done = read_all() && (!wants_to_write() || write_batch());
    file_->lines.tell_readers();
    if (is_done && has_waited) {
        tell_wait(tried);
    }
    if (!is_done) {
        wait_for_lock();
    } else if (file_->lock.is_pausing()) {
        return;
    } else if (!file_->units.empty() || file_->waiting.has_changed()) {
        inbox_.call_again();
    } else {
        settle();
    }
}

/// Returns false when another process has kept a reading from being run.
bool engine::read_all()
{
    while (!file_->readings.empty()) {
        const std::shared_ptr<reading> next = file_->readings.front();
        if (next->is_unwanted()) {
            next->complete(cancelled_failure());
        } else if (!file_->reads.run(*next)) {
            return false;
        }
        file_->readings.pop_front();
        file_->files.check();
    }
    return true;
}

bool engine::wants_to_write()
{
    if (file_->waiting.has_heedful()) {
        // Before the look that may decide to wait: no commit can then come in between unnoticed.
        file_->commits_of_others.start();
        file_->files.start();
    }
    return !file_->units.empty() || file_->lines.any_has_work();
}

/// Returns false when another process holds the lock.
bool engine::write_batch()
{
    if (file_->lock.owes_a_gap()) {
        file_->lock.pause();
        return true;
    }
    if (!file_->writes.run(file_->units, file_->waiting)) {
        return false;
    }
    file_->lock.note_success();
    if (file_->commits_of_others.note_own_commit()) {
        file_->waiting.mark_all();
    }
    file_->checkpoints.run_if_due();
    return true;
}

/// Those whose time comes meanwhile, and who need no lock, are told by the next try: no alarm is
/// set for them while one try follows the other.
void engine::wait_for_lock()
{
    const error busy = busy_error(path_.string());
    const clock::steady_time now = clock_->steady_now();
    const std::size_t timed_out = fail_overdue(file_->units, now, options_.busy_timeout, busy) +
                                  fail_overdue(file_->readings, now, options_.busy_timeout, busy) +
                                  file_->waiting.fail_overdue(now, options_.busy_timeout, busy);
    file_->deadline.pass_time();
    file_->lock.note_contention(now, timed_out);
    file_->lock.pause();
}

void engine::tell_wait(clock::steady_time end)
{
    const lock_wait::wait ended = file_->lock.end_wait();
    events_.tell([&](observer& who) { who.on_lock_awaited({end - ended.since, ended.timed_out}); });
}

/// SQLite cannot even begin, for another reason than a lock.
void engine::fail_everything(const error& failure)
{
    const std::size_t failed = file_->units.size() + file_->readings.size() + file_->waiting.size();
    if (failed != 0) {
        events_.tell([&](observer& who) { who.on_batch_failed({failed, failure}); });
    }
    file_->lock.end_wait();
    for (const auto& each : file_->units) {
        each->complete(std::make_exception_ptr(failure));
    }
    file_->units.clear();
    for (const auto& each : file_->readings) {
        each->complete(std::make_exception_ptr(failure));
    }
    file_->readings.clear();
    file_->waiting.fail_all(failure);
    settle();
}

/// The file is not the one that was opened any more. All that comes from now on gets here too.
void engine::abandon_file(const error& reason)
{
    if (!file_->is_lost) {
        file_->is_lost = true;
        log(log_level::warning, "the file or its -wal was replaced or deleted while it was open; "
                                "every operation fails from now on");
    }
    fail_everything(reason);
}

/// Nothing to do just now: decides what to wait for.
void engine::settle()
{
    if (!file_->waiting.has_heedful()) {
        file_->commits_of_others.stop();
        file_->files.stop();
    }
    if (file_->waiting.has_patient()) {
        file_->deadline.set();
    } else {
        file_->deadline.clear();
    }
}

/// Closes the file and lets go of the executor. What is still there ends with `errc::closed`.
void engine::finish(std::vector<std::shared_ptr<operation>> closings) noexcept
{
    const error closed = closed_error(path_.string());
    inbox::contents rest = inbox_.finish();
    for (const auto& each : file_->units) {
        each->complete(std::make_exception_ptr(closed));
    }
    for (const auto& each : file_->readings) {
        each->complete(std::make_exception_ptr(closed));
    }
    for (const auto& each : rest.arrived) {
        each->complete(std::make_exception_ptr(closed));
    }
    file_->waiting.fail_all(closed);
    {
        const std::lock_guard lock(sources_mutex_);
        for (const auto& [name, each] : sources_) {
            each->disconnect();
        }
    }
    file_.reset();
    strand_ = nullptr;
    log(log_level::info, "closed");
    closings.insert(closings.end(), rest.closings.begin(), rest.closings.end());
    for (const auto& each : closings) {
        each->complete();
    }
}

std::unique_ptr<wal_hint> engine::make_hint(sqlite::connection connection) const
{
    std::string refusal;
    std::unique_ptr<wal_hint> hint;
    if (options_.watch == watch::hybrid) {
        hint = make_wal_hint(strand_, connection, refusal);
    }
    if (!refusal.empty()) {
        log(log_level::warning, "watch::hybrid is not possible, the timer is used: " + refusal);
    }
    return hint;
}

void engine::log(log_level level, const std::string& text) const
{
    if (options_.log) {
        options_.log(level, path_.string() + ": " + text);
    }
}

} // namespace skein::runtime
