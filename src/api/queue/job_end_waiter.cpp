#include "api/queue/job_end_waiter.hpp"

#include "api/seconds.hpp"

namespace skein::api {

namespace {

bool has_tables(sqlite::connection connection)
{
    const store::queue_tables present = store::find_queue(connection);
    return present.has_live || present.has_results;
}

job_end public_end(store::job_end found)
{
    job_end end;
    end.result = std::move(found.result);
    if (found.death) {
        end.death = {std::move(found.death->last_error), from_seconds(found.death->died_at)};
    }
    return end;
}

} // namespace

job_end_waiter::job_end_waiter(std::shared_ptr<const results_state> where, std::int64_t job_id,
                               runtime::patience how_long)
    : waiter(how_long), where_(std::move(where)), job_id_(job_id),
      accepts_(queue_store::end_of(job_id) + (where_->create_schema ? '/' : ':'))
{
}

bool job_end_waiter::has_work(sqlite::connection connection, clock::wall_time now)
{
    // To look, our additions are not needed.
    queue_statements& there = *where_->store->find(connection, false);
    if (where_->create_schema && where_->store->opened() == nullptr) {
        wants_upgrade_ = has_tables(connection);
        result = wants_upgrade_ ? std::nullopt : std::optional(job_end());
        return true;
    }
    wants_upgrade_ = false;
    result = look(there, now);
    return result.has_value();
}

void job_end_waiter::share_with(waiter& other) const
{
    static_cast<job_end_waiter&>(other).result = result;
}

runtime::serving job_end_waiter::serve(runtime::batch& batch, std::span<waiter* const> line)
{
    const std::optional<job_end> end = look_in(batch);
    if (!end) {
        return {0, true};
    }
    for (waiter* const each : line) {
        static_cast<job_end_waiter*>(each)->result = end;
    }
    return {line.size(), true};
}

std::optional<job_end> job_end_waiter::look(queue_statements& there, clock::wall_time now) const
{
    std::optional<store::job_end> found = there.ends.find(job_id_, to_seconds(now));
    return found ? std::optional(public_end(*std::move(found))) : std::nullopt;
}

/// Upgrades the tables if need be, but makes none: without any, there is no job.
std::optional<job_end> job_end_waiter::look_in(runtime::batch& batch) const
{
    queue_statements* there = where_->store->opened();
    if (there == nullptr) {
        if (where_->create_schema && !has_tables(batch.connection())) {
            return job_end();
        }
        there = &where_->ready(batch);
    }
    return look(*there, batch.now());
}

} // namespace skein::api
