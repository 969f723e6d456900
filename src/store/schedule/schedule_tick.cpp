#include "store/schedule/schedule_tick.hpp"

#include "store/error.hpp"
#include "store/json_text.hpp"
#include "store/queue/error_text.hpp"

#include <algorithm>
#include <tuple>

namespace skein::store {

namespace {

/// Changes nothing, but takes the write lock before anything is read.
std::string take_from(schedule_table table)
{
    return "UPDATE " + name_of(table) +
           " SET queue = queue WHERE next_fire_at <= ?1 AND enabled RETURNING " +
           schedule_columns(table);
}

std::string advance_in(schedule_table table, const std::string& more)
{
    return "UPDATE " + name_of(table) + " SET next_fire_at = ?2" + more + " WHERE rowid = ?1";
}

/// Why the payload cannot be enqueued, as the dead letters tell it; empty when it can.
std::string payload_defect(const schedule& stored)
{
    try {
        require_json(stored.payload);
        return "";
    } catch (const invalid_payload& refusal) {
        return kept_error_text("schedule \"" + stored.name + "\": " + refusal.what() +
                               "; honker_scheduler_update gives it another");
    }
}

} // namespace

schedule_tick::schedule_tick(sqlite::connection connection, family_shape shape)
    : has_own_(shape == family_shape::complete), enqueuer_(connection), burial_(connection),
      take_shared_(connection, take_from(schedule_table::shared)),
      take_own_(connection, take_from(schedule_table::own)),
      advance_shared_(connection, advance_in(schedule_table::shared, "")),
      advance_own_(connection, advance_in(schedule_table::own, ", runs_left = ?3, last_job = ?4")),
      find_live_(connection, "SELECT 1 FROM _honker_live WHERE id = ?1")
{
}

std::vector<schedule_fire> schedule_tick::tick(std::int64_t due, std::int64_t now)
{
    std::vector<schedule_fire> fires;
    for (schedule_row& each : take_due(due)) {
        try {
            fire_due(each, due, now, fires);
        } catch (const invalid_argument& refusal) {
            throw invalid_argument("schedule \"" + kept_error_text(each.stored.name) +
                                   "\": " + refusal.what());
        }
    }
    return fires;
}

std::vector<schedule_row> schedule_tick::take_due(std::int64_t due)
{
    std::vector<schedule_row> all;
    const auto take = [&](sqlite::statement& from) {
        sqlite::execution found = from.start(due);
        while (found.step()) {
            all.push_back(read_schedule(found));
        }
    };
    take(take_shared_);
    if (has_own_) {
        take(take_own_);
    }
    std::ranges::sort(all, {}, [](const schedule_row& each) { return std::tie(each.stored.name); });
    return all;
}

void schedule_tick::fire_due(schedule_row& row, std::int64_t due, std::int64_t now,
                             std::vector<schedule_fire>& fires)
{
    schedule& stored = row.stored;
    require_max_attempts(stored.max_attempts);
    const due_moments moments = moments_due(row, due);
    const std::string defect = payload_defect(stored);
    for (const std::int64_t moment : moments.firing) {
        if (stored.runs_left.value_or(1) <= 0 || must_wait(stored)) {
            continue;
        }
        if (defect.empty()) {
            stored.last_job = enqueue(stored, now);
            fires.push_back({stored.name, stored.queue, moment, *stored.last_job});
        } else {
            stored.last_job = bury(stored, defect, moment, now);
        }
        if (stored.runs_left) {
            --*stored.runs_left;
        }
    }
    stored.next_fire_at = stored.runs_left.value_or(1) > 0 ? moments.next : std::nullopt;
    advance(row);
}

std::int64_t schedule_tick::enqueue(const schedule& stored, std::int64_t now)
{
    return enqueuer_.enqueue({.queue = stored.queue,
                              .payload = stored.payload,
                              .priority = stored.priority,
                              .max_attempts = stored.max_attempts,
                              .expires_in = stored.expires_in},
                             now);
}

/// A job that dies at once has had a number that no other gets.
std::int64_t schedule_tick::bury(const schedule& stored, std::string_view defect,
                                 std::int64_t moment, std::int64_t now)
{
    const std::int64_t job = enqueuer_.enqueue({.queue = stored.queue,
                                                .payload = stored.payload,
                                                .run_at = moment,
                                                .priority = stored.priority,
                                                .max_attempts = stored.max_attempts},
                                               now);
    burial_.bury(job, defect, now);
    return job;
}

bool schedule_tick::must_wait(const schedule& stored)
{
    return stored.overlap == overlap_policy::skip && stored.last_job &&
           find_live_.start(*stored.last_job).step();
}

void schedule_tick::advance(const schedule_row& row)
{
    const schedule& stored = row.stored;
    const int changed =
        row.table == schedule_table::shared
            ? advance_shared_.run(row.number, stored.next_fire_at)
            : advance_own_.run(row.number, stored.next_fire_at, stored.runs_left, stored.last_job);
    if (changed == 0) {
        // Its jobs would be enqueued again and again.
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER,
                            "a trigger on " + name_of(row.table) + " ignores the next moment");
    }
}

} // namespace skein::store
