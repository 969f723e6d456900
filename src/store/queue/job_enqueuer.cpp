#include "store/queue/job_enqueuer.hpp"

#include "store/error.hpp"
#include "store/json_text.hpp"
#include "store/queue/held_jobs_schema.hpp"
#include "store/saturating.hpp"

#include <string>

namespace skein::store {

namespace {

std::int64_t due_time(const new_job& job, std::int64_t now)
{
    return due_unheld(job.delay ? saturating_add(now, *job.delay) : job.run_at.value_or(now));
}

std::optional<std::int64_t> expiry(const new_job& job, std::int64_t now)
{
    if (!job.expires_in) {
        return std::nullopt;
    }
    return saturating_add(now, *job.expires_in);
}

} // namespace

void require_max_attempts(std::int64_t max_attempts)
{
    if (max_attempts < 1) {
        throw invalid_argument("max_attempts must be at least 1, got " +
                               std::to_string(max_attempts));
    }
}

void require_job(const new_job& job)
{
    require_max_attempts(job.max_attempts);
    require_json(job.payload);
}

// The number is asked for afterwards: RETURNING it would cost half as much as the insert itself.
// What a trigger of the user's inserts does not change it.
job_enqueuer::job_enqueuer(sqlite::connection connection)
    : insert_(connection, "INSERT INTO _honker_live (queue, payload, state, priority, run_at,"
                          " max_attempts, created_at, expires_at) VALUES (?1, ?2,"
                          " iif(?4 > ?6, 'scheduled', 'pending'), ?3, ?4, ?5, ?6, ?7)"),
      connection_(connection)
{
}

std::int64_t job_enqueuer::enqueue(const new_job& job, std::int64_t now)
{
    const int inserted = insert_.run(job.queue, job.payload, job.priority, due_time(job, now),
                                     job.max_attempts, now, expiry(job, now));
    if (inserted == 0) {
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER, "a trigger on _honker_live ignores the job");
    }
    return connection_.last_insert_rowid();
}

} // namespace skein::store
