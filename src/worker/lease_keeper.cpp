#include "worker/lease_keeper.hpp"

#include "runtime/failure.hpp"
#include "runtime/log_line.hpp"
#include "runtime/source.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace skein::worker {

namespace {

// After a failure it is tried again this soon, or sooner when leases are short.
constexpr std::chrono::nanoseconds pause_after_failure = std::chrono::seconds{1};

/// What the leases are about matters to nobody who waits here: time alone makes something to do.
class heartbeats final : public runtime::source {
public:
    std::optional<clock::wall_time> next_due(sqlite::connection /*connection*/,
                                             clock::wall_time /*since*/) override
    {
        return std::nullopt;
    }
    void disconnect() noexcept override {}
};

/// An error of the statement undoes the statement; the other leases are extended all the same.
heartbeat extend(runtime::batch& batch, task& held)
{
    try {
        return held.extend(batch);
    } catch (const sqlite::error&) {
        if (!batch.connection().in_transaction()) {
            throw;
        }
        return heartbeat::failed;
    }
}

} // namespace

lease_keeper::lease_keeper(std::shared_ptr<runtime::engine> engine,
                           std::shared_ptr<lease_book> book, std::chrono::nanoseconds pause)
    : waiter({}), engine_(std::move(engine)),
      origin_(engine_->source_named<heartbeats>("heartbeats of workers")), book_(std::move(book)),
      // No two runs have one book.
      accepts_("heartbeat " + std::to_string(reinterpret_cast<std::uintptr_t>(book_.get()))),
      pause_(pause), next_(engine_->steady_now() + pause)
{
}

bool lease_keeper::is_due() const noexcept
{
    return engine_->steady_now() >= next_;
}

bool lease_keeper::has_work(sqlite::connection /*connection*/, clock::wall_time /*now*/)
{
    is_over_ = is_due() && book_->end_if_empty();
    return is_due();
}

std::optional<clock::wall_time> lease_keeper::look_again() const noexcept
{
    return engine_->on_the_wall(next_);
}

runtime::serving lease_keeper::serve(runtime::batch& batch, std::span<waiter* const> /*line*/)
{
    // Any transaction of the user's makes all lines look.
    if (is_due()) {
        extend_all(batch);
        next_ = engine_->steady_now() + pause_;
    }
    return {.served = 0, .look_again = look_again()};
}

void lease_keeper::extend_all(runtime::batch& batch) const
{
    std::vector<lease_news> news;
    for (const std::shared_ptr<task>& each : book_->entries()) {
        if (each->needs_extending()) {
            const heartbeat found = extend(batch, *each);
            const bool is_news = found == heartbeat::lost || found == heartbeat::stop_requested;
            if (is_news && each->is_in_hand()) {
                news.push_back({each, found});
            }
        }
    }
    if (!news.empty()) {
        batch.after_commit([book = book_, told = std::move(news)] { book->tell(told); });
    }
}

void lease_keeper::failed(const std::exception_ptr& failure) noexcept
{
    if (runtime::is_final(failure)) {
        book_->tell_failure(failure); // no claim may be under way that would tell
        return;
    }
    try {
        engine_->log(log_level::warning,
                     "the leases of a worker were not extended: " + runtime::one_line_of(failure));
        auto next = std::make_shared<lease_keeper>(engine_, book_, pause_);
        next->next_ = engine_->steady_now() + std::min(pause_, pause_after_failure);
        if (book_->set_keeper(next)) {
            engine_->submit(std::move(next));
        }
    } catch (...) { // NOLINT(bugprone-empty-catch): the leases end at their time
    }
}

} // namespace skein::worker
