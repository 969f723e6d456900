#include "runtime/committer.hpp"

#include "runtime/failure.hpp"
#include "runtime/opening.hpp"

#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <utility>

namespace skein::runtime {

namespace {

const std::string savepoint_name = "skein_unit";

// The write lock is shared with other processes: nobody should hold it for long.
constexpr std::size_t largest_batch = 1000;
constexpr std::chrono::milliseconds longest_batch{25};

// So many waiters of one line are served together: the time is looked at in between.
constexpr std::size_t served_together = 512;

/// In a rollback journal a commit needs the exclusive lock, which readers of other processes can
/// deny it. Taken at the beginning, nothing can be denied later; with a write-ahead log there is no
/// difference to make. The file decides, not the option: it may have been refused.
std::string begin_text(sqlite::connection connection)
{
    return journal_of(connection) == "wal" ? "BEGIN IMMEDIATE" : "BEGIN EXCLUSIVE";
}

} // namespace

committer::committer(engine& owner, SQLite::Database& database, const clock& time, std::string file,
                     event_sink& told)
    : owner_(owner), database_(database), connection_(database.getHandle()), time_(time),
      file_(std::move(file)), told_(told), guard_(owner_, connection_, savepoint_name),
      events_(told, connection_), begin_(connection_, begin_text(connection_)),
      commit_(connection_, "COMMIT"), rollback_(connection_, "ROLLBACK"),
      savepoint_(connection_, savepoint_name)
{
}

bool committer::run(std::deque<std::shared_ptr<unit>>& queue, waitlist& waiting)
{
    if (!begin()) {
        return false;
    }
    started_ = time_.steady_now();
    batch current(owner_, database_, time_, waiting, events_);
    if (lines_come_first_) {
        serve_lines(waiting, current);
    }
    run_units(queue, current);
    serve_lines(waiting, current);
    if (has_lost_lock_) {
        give_back(queue);
        return false;
    }
    lines_come_first_ = !lines_come_first_ && !has_room() && waiting.has_changed();
    end(current, waiting);
    return true;
}

bool committer::begin()
{
    try {
        begin_.run();
        return true;
    } catch (const sqlite::error& refusal) {
        if (refusal.is_busy()) {
            return false;
        }
        throw;
    }
}

void committer::run_units(std::deque<std::shared_ptr<unit>>& queue, batch& batch)
{
    while (!queue.empty() && goes_on()) {
        const std::size_t first = members_.size();
        const bool is_callback = queue.front()->is_callback();
        const std::exception_ptr failure =
            run_undoable(batch, is_callback, [&] { run_some(queue, batch); });
        if (failure) {
            tell_failure(first, failure, queue, batch);
        }
    }
}

/// After units, from the member `first` on, have failed together.
void committer::tell_failure(std::size_t first, const std::exception_ptr& failure,
                             std::deque<std::shared_ptr<unit>>& queue, batch& batch)
{
    const std::size_t tried = members_.size() - first;
    if (tried == 0 && !queue.empty()) {
        // Not even a savepoint could be had. Who does not hear of it would try for ever.
        members_.push_back({queue.front(), failure});
        queue.pop_front();
    } else if (tried == 1 || broken_) {
        members_.back().failure = failure; // the last one has met it
    } else if (!has_lost_lock_) {
        run_one_by_one(first, batch);
    }
}

/// Runs units from the front of the queue; a callback only by itself, since it cannot be run again.
void committer::run_some(std::deque<std::shared_ptr<unit>>& queue, batch& batch)
{
    const std::size_t first = members_.size();
    bool has_callback = false;
    while (!queue.empty() && !has_callback && has_room()) {
        const std::shared_ptr<unit> next = queue.front();
        has_callback = next->is_callback();
        if (has_callback && members_.size() != first) {
            return;
        }
        queue.pop_front();
        if (next->is_unwanted()) {
            next->complete(cancelled_failure());
        }
        if (!next->is_complete()) {
            members_.push_back({next, nullptr});
            run_unit(*next, batch);
        }
    }
}

void committer::run_one_by_one(std::size_t first, batch& batch)
{
    for (std::size_t each = first; each < members_.size() && !broken_ && !has_lost_lock_; ++each) {
        auto& again = static_cast<unit&>(*members_[each].done);
        members_[each].failure = run_undoable(batch, false, [&] { run_unit(again, batch); });
    }
}

void committer::run_unit(unit& wanted, batch& batch)
{
    if (wanted.is_callback()) {
        const callback_guard::scope guarded(guard_, callback_guard::mode::writing);
        events_.run_callback([&] { wanted.run_for_caller([&] { wanted.run(batch); }); });
    } else {
        wanted.run(batch);
    }
}

void committer::serve_lines(waitlist& waiting, batch& batch)
{
    waiting.visit_changed([&](line& each) {
        // Those that only read come after the commit.
        if (goes_on() && !each.waiters.front()->only_reads()) {
            serve_line(each, waiting, batch);
        }
        return goes_on();
    });
}

void committer::serve_line(line& served, waitlist& waiting, batch& batch)
{
    std::size_t most = served_together;
    while (goes_on()) {
        const std::vector<waiter*> tried = first_wanted(served, most, waiting);
        if (tried.empty()) {
            return;
        }
        const clock::wall_time looked_at = time_.wall_now();
        serving result;
        const std::exception_ptr failure =
            run_undoable(batch, false, [&] { result = tried.front()->serve(batch, tried); });
        if (failure && !broken_ && tried.size() > 1) {
            most = 1; // one by one, then
            continue;
        }
        const std::size_t done = failure ? 1 : result.served;
        for (std::size_t each = 0; each < done; ++each) {
            members_.push_back({waiting.leave(*tried[each]), failure});
        }
        served.locked_since.reset();
        if (!failure && done < tried.size()) {
            if (result.is_finished) {
                waiting.settle_empty(served, looked_at, result.look_again);
            }
            return;
        }
    }
}

/// The waiters at the front of the line. Those that nobody waits for any more leave it.
std::vector<waiter*> committer::first_wanted(line& from, std::size_t most, waitlist& waiting)
{
    std::vector<waiter*> found;
    for (auto next = from.waiters.begin(); next != from.waiters.end() && found.size() < most;) {
        waiter& who = **next++;
        if (who.is_unwanted()) {
            waiting.leave(who)->complete(cancelled_failure());
        } else {
            found.push_back(&who);
        }
    }
    return found;
}

/// Runs a part of the batch so that a failure undoes this part and nothing else. Returns the
/// failure.
///
/// The first part needs no savepoint for that: the transaction is begun anew.
template <class Work>
std::exception_ptr committer::run_undoable(batch& batch, bool is_callback, Work work)
{
    const std::size_t actions = batch.actions();
    const std::size_t events = events_.size();
    const bool has_savepoint = has_worked_ || is_callback;
    std::exception_ptr failure;
    try {
        if (has_savepoint) {
            savepoint_.begin();
        }
        has_worked_ = true;
        work();
        if (connection_.in_transaction()) {
            batch.run_checks();
        }
        if (connection_.has_violated_foreign_keys()) {
            // A commit would fail, and with it all the others.
            throw sqlite::error(SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed");
        }
        if (has_savepoint && connection_.in_transaction()) {
            savepoint_.release();
        }
    } catch (...) {
        failure = translate(std::current_exception(), file_);
        batch.forget_actions_from(actions);
        events_.forget_from(events);
    }
    batch.forget_checks();
    // Whatever the error code: once SQLite has ended the transaction, the batch is gone.
    if (!connection_.in_transaction()) {
        break_batch(failure);
    } else if (failure) {
        undo(has_savepoint, failure);
    }
    return failure;
}

void committer::undo(bool has_savepoint, const std::exception_ptr& failure)
{
    try {
        if (has_savepoint) {
            savepoint_.undo();
        } else {
            rollback_.run();
            has_worked_ = false;
            has_lost_lock_ = !begin();
        }
    } catch (const sqlite::error&) {
        break_batch(failure);
    }
}

/// Between the end of a part that failed and a new beginning, another process has taken the lock.
/// Nothing has happened then; who has not failed by himself waits again, in his place.
void committer::give_back(std::deque<std::shared_ptr<unit>>& queue)
{
    for (; !members_.empty(); members_.pop_back()) {
        member& last = members_.back();
        if (last.failure) {
            ++failed_;
            last.done->complete(std::move(last.failure));
        } else {
            queue.push_front(std::static_pointer_cast<unit>(std::move(last.done)));
        }
    }
    reset();
}

void committer::break_batch(const std::exception_ptr& failure)
{
    try {
        if (failure) {
            std::rethrow_exception(failure);
        }
        broken_.emplace(errc::storage_failure,
                        file_ + ": SQLite ended the transaction inside a callback");
    } catch (const error& reason) {
        broken_ = reason;
    } catch (const std::exception& reason) {
        const sqlite::error cause(
            sqlite3_extended_errcode(connection_.handle()),
            std::string("another operation of the batch ended its transaction: ") + reason.what());
        broken_ = to_error(cause, file_);
    } catch (...) {
        broken_.emplace(errc::storage_failure,
                        file_ + ": another operation of the batch ended its transaction");
    }
}

void committer::end(batch& batch, waitlist& waiting)
{
    if (!broken_) {
        commit();
    }
    if (broken_) {
        roll_back();
        waiting.mark_all(); // what the lines found was undone
    }
    complete_members(batch);
    reset();
}

void committer::commit()
{
    const bool is_timed = told_.is_heard();
    if (is_timed) {
        commit_begun_ = time_.steady_now();
    }
    try {
        commit_.run();
    } catch (const sqlite::error& refusal) {
        broken_ = to_error(refusal, file_);
    }
    if (is_timed) {
        committed_ = time_.steady_now();
    }
}

void committer::reset() noexcept
{
    members_.clear();
    events_.forget_from(0);
    broken_.reset();
    has_worked_ = false;
    has_lost_lock_ = false;
}

/// After a failure, which is the one to be told; SQLite may have ended the transaction already.
void committer::roll_back() noexcept
{
    try {
        if (connection_.in_transaction()) {
            rollback_.run();
        }
    } catch (const sqlite::error&) {
    }
}

void committer::complete_members(batch& batch)
{
    if (!broken_) {
        batch.run_actions();
    }
    if (told_.is_heard()) {
        tell_end();
    }
    for (member& each : members_) {
        if (each.failure) {
            each.done->complete(std::move(each.failure));
        } else if (broken_) {
            each.done->complete(std::make_exception_ptr(*broken_));
        } else {
            each.done->committed();
            each.done->complete();
        }
    }
}

/// Before anybody is resumed: who counts has counted what its caller then knows of.
void committer::tell_end()
{
    if (broken_) {
        told_.tell([&](observer& who) { who.on_batch_failed({members_.size(), *broken_}); });
        return;
    }
    events_.tell();
    const auto failed = std::ranges::count_if(members_, &member::has_failed);
    batch_committed event;
    event.operations = failed_ + members_.size();
    event.failed = std::exchange(failed_, 0) + static_cast<std::size_t>(failed);
    event.duration = committed_ - started_;
    event.commit = committed_ - commit_begun_;
    told_.tell([&](observer& who) { who.on_batch_committed(event); });
}

bool committer::goes_on() const
{
    return !broken_ && !has_lost_lock_ && has_room();
}

bool committer::has_room() const
{
    return members_.size() < largest_batch && time_.steady_now() - started_ < longest_batch;
}

} // namespace skein::runtime
