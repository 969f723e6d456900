#include "store/queue/keyed_enqueuer.hpp"

#include "store/queue/held_jobs_schema.hpp"
#include "store/queue/unique_jobs_schema.hpp"

namespace skein::store {

void require_keys(const job_keys& keys)
{
    if (keys.unique) {
        require_unique_key(*keys.unique);
    }
    if (keys.limit) {
        require_limit(*keys.limit);
    }
}

void create_tables_of(sqlite::connection connection, const job_keys& keys)
{
    if (keys.unique) {
        create_family(connection, unique_job_tables());
    }
    if (keys.limit) {
        create_family(connection, held_job_tables());
    }
}

keyed_enqueuer::keyed_enqueuer(sqlite::connection connection)
    : enqueuer_(connection), changer_(connection), unique_(connection), limits_(connection)
{
}

enqueued_job keyed_enqueuer::enqueue(const new_job& job, const job_keys& keys, std::int64_t now)
{
    if (keys.unique) {
        if (const auto holder = unique_.holder(job.queue, keys.unique->key, now)) {
            return change_holder(*holder, job, keys.on_conflict, now);
        }
    }
    const std::int64_t id = enqueuer_.enqueue(job, now);
    if (keys.unique) {
        unique_.take(job.queue, id, *keys.unique, now);
    }
    if (keys.limit) {
        limits_.limit(job.queue, id, *keys.limit);
    }
    return {id, enqueue_outcome::created};
}

enqueued_job keyed_enqueuer::change_holder(std::int64_t holder, const new_job& job, on_conflict how,
                                           std::int64_t now)
{
    job_change wanted;
    if (how == on_conflict::replace_payload || how == on_conflict::replace_and_move) {
        wanted.payload = job.payload;
    }
    if (how == on_conflict::move_due_time || how == on_conflict::replace_and_move) {
        wanted.run_at = job.run_at;
        wanted.delay = job.delay;
        if (!job.run_at && !job.delay) {
            wanted.run_at = now;
        }
    }
    const bool is_changed =
        how != on_conflict::skip && changer_.change(job.queue, holder, wanted, now);
    return {holder, is_changed ? enqueue_outcome::changed : enqueue_outcome::skipped};
}

} // namespace skein::store
