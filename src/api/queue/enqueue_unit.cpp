#include "api/queue/enqueue_unit.hpp"

#include "api/payload_room.hpp"
#include "api/queue/job_events.hpp"
#include "api/seconds.hpp"

namespace skein::api {

enqueue_unit::enqueue_unit(std::shared_ptr<const queue_state> where, std::span<const new_job> jobs)
    : where_(std::move(where))
{
    std::size_t length = 0;
    for (const new_job& each : jobs) {
        require_room(*where_->engine, each.payload, where_->name());
        length += each.payload.size() + each.options.unique.key.value_or("").size() +
                  each.options.concurrency.key.value_or("").size();
    }
    texts_.reserve(length); // views of it stay good
    jobs_.reserve(jobs.size());
    for (const new_job& each : jobs) {
        enqueue_options options = each.options;
        keep(options.unique.key);
        keep(options.concurrency.key);
        jobs_.push_back(
            checked_job(where_->name(), kept(each.payload), options, where_->max_attempts));
    }
}

std::string_view enqueue_unit::kept(std::string_view text)
{
    const std::size_t start = texts_.size();
    texts_ += text;
    return std::string_view(texts_).substr(start);
}

void enqueue_unit::keep(std::optional<std::string_view>& text)
{
    if (text) {
        text = kept(*text);
    }
}

void enqueue_unit::run(runtime::batch& batch)
{
    result.clear();
    result.reserve(jobs_.size());
    for (const job_request& each : jobs_) {
        result.push_back(enqueue(batch, each));
    }
    batch.touch(*where_->source);
    if (batch.is_observed()) {
        note_created(batch);
    }
}

void enqueue_unit::note_created(runtime::batch& batch) const
{
    std::vector<std::int64_t> ids;
    for (const enqueued_job& each : result) {
        if (each.is_created()) {
            ids.push_back(each.id);
        }
    }
    note_enqueued(batch, *where_->source, ids, job_origin::program);
}

enqueued_job enqueue_unit::enqueue(runtime::batch& batch, const job_request& wanted) const
{
    queue_statements& there = where_->ready(batch);
    const std::int64_t now = to_seconds(batch.now());
    if (!wanted.keys.any()) {
        return {there.enqueuer.enqueue(wanted.job, now)};
    }
    make_tables_of(batch, wanted.keys);
    return shown(there.keyed.enqueue(wanted.job, wanted.keys, now));
}

void enqueue_unit::make_tables_of(runtime::batch& batch, const store::job_keys& keys) const
{
    if (keys.unique) {
        where_->features->unique.ready(batch, where_->create_schema);
    }
    if (keys.limit) {
        where_->features->held.ready(batch, where_->create_schema);
    }
}

} // namespace skein::api
