#include "api/schedule/schedule_ticker.hpp"

#include "api/seconds.hpp"
#include "runtime/failure.hpp"
#include "store/schedule/schedule_rows.hpp"

#include <skein/log.hpp>

#include <algorithm>
#include <iterator>
#include <ranges>

namespace skein::api {

namespace {

constexpr std::chrono::seconds longest_pause{60};

/// Of the schedules that are refused together, so many are told of one by one.
constexpr int most_told = 10;

std::string in_seconds(const tick_pause& pause)
{
    return "; the next try is in " + std::to_string(pause.length.count()) + " s";
}

} // namespace

schedule_ticker::schedule_ticker(std::shared_ptr<const scheduler_state> where,
                                 const std::optional<tick_pause>& last)
    : waiter({}), where_(std::move(where)), accepts_(where_->create_schema ? "tick/" : "tick:"),
      last_(last)
{
}

bool schedule_ticker::is_pausing() const noexcept
{
    return last_ && where_->engine->steady_now() < last_->until;
}

bool schedule_ticker::has_work(sqlite::connection connection, clock::wall_time now)
{
    if (is_pausing() && !last_->tried) {
        next_ = where_->engine->on_the_wall(last_->until);
        return false;
    }
    schedule_statements* const there = where_->store->find(connection, where_->create_schema);
    // Without tables there is something to do: to make them.
    return there == nullptr || is_due(*there, now);
}

/// A schedule that another program has added, or that goes on after a rest, may be due at a moment
/// that has been.
bool schedule_ticker::leaves_refused(schedule_statements& there) const
{
    return is_pausing() && last_->tried && there.rows.count_due(*last_->tried) == last_->refused;
}

bool schedule_ticker::is_due(schedule_statements& there, clock::wall_time now)
{
    const bool waits = leaves_refused(there);
    const std::optional<std::int64_t> soonest =
        waits ? there.rows.soonest_after(*last_->tried) : there.rows.soonest();
    next_ = soonest ? std::optional(from_seconds(*soonest)) : std::nullopt;
    if (waits) {
        const clock::wall_time retry = where_->engine->on_the_wall(last_->until);
        next_ = std::min(next_.value_or(retry), retry);
    }
    return soonest && *soonest <= to_seconds(now);
}

runtime::serving schedule_ticker::serve(runtime::batch& batch, std::span<waiter* const> /*line*/)
{
    schedule_statements& there = where_->ready(batch);
    if (!is_due(there, batch.now())) {
        return {.served = 0, .look_again = next_};
    }
    where_->queues->ready(batch, where_->create_schema);
    const std::int64_t now = to_seconds(batch.now());
    const store::tick_outcome outcome = there.tick.tick(now, now);
    for (const store::schedule_fire& each : outcome.fires) {
        batch.touch(*queue_source_of(*where_->engine, each.queue));
    }
    note_refusals(outcome, now, batch);
    const std::optional<std::int64_t> soonest = there.rows.soonest();
    return {.served = 1,
            .look_again = soonest ? std::optional(from_seconds(*soonest)) : std::nullopt};
}

/// What is refused between two tries is no news.
void schedule_ticker::note_refusals(const store::tick_outcome& outcome, std::int64_t due,
                                    runtime::batch& batch)
{
    pause_.reset();
    if (outcome.refusals.empty()) {
        return;
    }
    pause_ = is_pausing() ? *last_ : longer_pause();
    pause_->tried = due;
    pause_->refused = std::ssize(outcome.refusals);
    if (is_pausing()) {
        return;
    }
    const std::string end = in_seconds(*pause_);
    for (const store::schedule_refusal& each : outcome.refusals | std::views::take(most_told)) {
        warn_later(batch, store::mention(each.name) + " is not served: " + each.reason + end);
    }
    if (pause_->refused > most_told) {
        const std::string others = std::to_string(pause_->refused - most_told);
        warn_later(batch, others + " more schedules are not served" + end);
    }
}

void schedule_ticker::warn_later(runtime::batch& batch, const std::string& text) const
{
    batch.after_commit([where = where_, line = runtime::in_one_line(text)] {
        where->engine->log(log_level::warning, line);
    });
}

void schedule_ticker::failed(const std::exception_ptr& failure) noexcept
{
    if (runtime::is_final(failure)) {
        return;
    }
    pause_ = longer_pause();
    try {
        where_->engine->log(log_level::warning,
                            runtime::in_one_line("schedules are not served: " +
                                                 runtime::what_of(failure) + in_seconds(*pause_)));
    } catch (...) { // NOLINT(bugprone-empty-catch): it goes on without having said so
    }
}

tick_pause schedule_ticker::longer_pause() const
{
    const std::chrono::seconds last = last_ ? last_->length : std::chrono::seconds{0};
    const auto length = std::clamp(last * 2, std::chrono::seconds{1}, longest_pause);
    return {.length = length, .until = where_->engine->steady_now() + length};
}

} // namespace skein::api
