#include "store/schedule/schedule_jobs.hpp"

#include "store/error.hpp"
#include "store/json_text.hpp"
#include "store/queue/error_text.hpp"
#include "store/schedule/schedule_rows.hpp"

namespace skein::store {

namespace {

/// Why the payload cannot be enqueued, as the dead letters tell it; empty when it can.
std::string payload_defect(const schedule& firing)
{
    try {
        require_json(firing.payload);
        return "";
    } catch (const invalid_payload& refusal) {
        return kept_error_text(mention(firing.name) + ": " + refusal.what() +
                               "; honker_scheduler_update gives it another");
    }
}

} // namespace

schedule_jobs::schedule_jobs(sqlite::connection connection)
    : enqueuer_(connection), burial_(connection),
      find_live_(connection, "SELECT 1 FROM _honker_live WHERE id = ?1")
{
}

void schedule_jobs::fire(schedule& firing, std::span<const std::int64_t> moments, std::int64_t now,
                         std::vector<schedule_fire>& fires)
{
    const std::string defect = payload_defect(firing);
    for (const std::int64_t moment : moments) {
        if (firing.runs_left.value_or(1) <= 0 || must_wait(firing)) {
            continue;
        }
        if (defect.empty()) {
            firing.last_job = enqueue(firing, now);
            fires.push_back({firing.name, firing.queue, moment, *firing.last_job});
        } else {
            firing.last_job = bury(firing, defect, moment, now);
        }
        if (firing.runs_left) {
            --*firing.runs_left;
        }
    }
}

std::int64_t schedule_jobs::enqueue(const schedule& firing, std::int64_t now)
{
    return enqueuer_.enqueue({.queue = firing.queue,
                              .payload = firing.payload,
                              .priority = firing.priority,
                              .max_attempts = firing.max_attempts,
                              .expires_in = firing.expires_in},
                             now);
}

/// A job that dies at once has had a number that no other gets.
std::int64_t schedule_jobs::bury(const schedule& firing, std::string_view defect,
                                 std::int64_t moment, std::int64_t now)
{
    const std::int64_t job = enqueuer_.enqueue({.queue = firing.queue,
                                                .payload = firing.payload,
                                                .run_at = moment,
                                                .priority = firing.priority,
                                                .max_attempts = firing.max_attempts},
                                               now);
    burial_.bury(job, defect, now);
    return job;
}

bool schedule_jobs::must_wait(const schedule& firing)
{
    return firing.overlap == overlap_policy::skip && firing.last_job &&
           find_live_.start(*firing.last_job).step();
}

} // namespace skein::store
