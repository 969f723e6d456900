#include "store/schedule/schedule_request.hpp"

#include "store/cron/cron_occurrence.hpp"
#include "store/error.hpp"
#include "store/json_text.hpp"
#include "store/queue/job_enqueuer.hpp"

#include <string>

namespace skein::store {

namespace {

void require_runs(const std::optional<std::int64_t>& runs)
{
    if (runs && *runs < 1) {
        throw invalid_argument("runs must be at least 1, got " + std::to_string(*runs));
    }
}

void require_grace(std::int64_t grace)
{
    if (grace < 0) {
        throw invalid_argument("grace must not be negative, got " + std::to_string(grace));
    }
}

void require_before_end(const schedule& changed, std::int64_t next)
{
    if (changed.ends_at && next > *changed.ends_at) {
        throw invalid_argument("schedule expression \"" + changed.expression +
                               "\" has no moment before the schedule ends");
    }
}

/// Gives the schedule the expression's text, and its first moment after `now`.
void start(schedule& changed, cron_expression expression, std::int64_t now)
{
    const auto next = next_occurrence(expression, find_time_zone(expression.zone), now);
    if (!next) {
        throw invalid_argument("schedule expression \"" + expression.text +
                               "\" has no moment within 100 years");
    }
    changed.expression = std::move(expression.text);
    require_before_end(changed, *next);
    // One that has fired as often as it was to stays at its end.
    changed.next_fire_at = changed.runs_left.value_or(1) > 0 ? next : std::nullopt;
}

/// The end, or the number of runs, has changed.
void continue_or_start_again(schedule& changed, std::int64_t now)
{
    if (changed.next_fire_at) {
        require_before_end(changed, *changed.next_fire_at);
    } else {
        start(changed, parse_cron(changed.expression, cron_grammar::extended), now);
    }
}

} // namespace

void require_schedule(const new_schedule& added)
{
    require_max_attempts(added.max_attempts);
    require_json(added.payload);
    require_runs(added.runs);
    require_grace(added.grace);
}

schedule made_schedule(const new_schedule& added, std::int64_t now)
{
    require_schedule(added);
    schedule made{.name = std::string(added.name),
                  .queue = std::string(added.queue),
                  .expression = {},
                  .payload = std::string(added.payload),
                  .priority = added.priority,
                  .expires_in = added.expires_in,
                  .max_attempts = added.max_attempts,
                  .ends_at = added.ends_at,
                  .runs_left = added.runs,
                  .missed = added.missed,
                  .grace = added.grace,
                  .overlap = added.overlap};
    start(made, parse_cron(added.expression, cron_grammar::registered), now);
    return made;
}

void require_change(const schedule_change& change)
{
    if (change.max_attempts) {
        require_max_attempts(*change.max_attempts);
    }
    if (change.payload) {
        require_json(*change.payload);
    }
    require_runs(change.runs.value_or(std::nullopt));
    require_grace(change.grace.value_or(0));
}

void apply_change(schedule& changed, const schedule_change& change, std::int64_t now)
{
    const auto take = [](auto& present, const auto& wanted) {
        if (wanted) {
            present = *wanted;
        }
    };
    take(changed.payload, change.payload);
    take(changed.priority, change.priority);
    take(changed.expires_in, change.expires_in);
    take(changed.max_attempts, change.max_attempts);
    take(changed.ends_at, change.ends_at);
    take(changed.runs_left, change.runs);
    take(changed.missed, change.missed);
    take(changed.grace, change.grace);
    take(changed.overlap, change.overlap);
    if (change.expression) {
        start(changed, parse_cron(*change.expression, cron_grammar::registered), now);
    } else if (change.ends_at || change.runs) {
        continue_or_start_again(changed, now);
    }
}

} // namespace skein::store
