#include "api/queue/enqueue_unit.hpp"

#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "api/queue/due_time.hpp"
#include "api/queue/job_events.hpp"
#include "api/seconds.hpp"

namespace skein::api {

namespace {

std::size_t length_of(const std::optional<std::string_view>& text)
{
    return text ? text->size() : 0;
}

store::on_conflict stored_conflict(on_conflict how) noexcept
{
    switch (how) {
    case on_conflict::skip:
        break;
    case on_conflict::replace_payload:
        return store::on_conflict::replace_payload;
    case on_conflict::move_due_time:
        return store::on_conflict::move_due_time;
    case on_conflict::replace_and_move:
        return store::on_conflict::replace_and_move;
    }
    return store::on_conflict::skip;
}

enqueue_outcome public_outcome(store::enqueue_outcome outcome) noexcept
{
    switch (outcome) {
    case store::enqueue_outcome::created:
        break;
    case store::enqueue_outcome::skipped:
        return enqueue_outcome::skipped;
    case store::enqueue_outcome::changed:
        return enqueue_outcome::changed;
    }
    return enqueue_outcome::created;
}

} // namespace

enqueue_unit::enqueue_unit(std::shared_ptr<const queue_state> where, std::span<const new_job> jobs)
    : where_(std::move(where))
{
    std::size_t length = 0;
    for (const new_job& each : jobs) {
        require_room(*where_->engine, each.payload, where_->name());
        length += each.payload.size() + length_of(each.options.unique.key) +
                  length_of(each.options.concurrency.key);
    }
    texts_.reserve(length); // views of it stay good
    jobs_.reserve(jobs.size());
    for (const new_job& each : jobs) {
        jobs_.push_back(stored(each));
        checked([&] {
            store::require_job(jobs_.back().job);
            store::require_keys(jobs_.back().keys);
        });
    }
}

std::string_view enqueue_unit::kept(std::string_view text)
{
    const std::size_t start = texts_.size();
    texts_ += text;
    return std::string_view(texts_).substr(start);
}

enqueue_unit::wanted_job enqueue_unit::stored(const new_job& wanted)
{
    const enqueue_options& options = wanted.options;
    const due_time due(options.delay, options.run_at);
    wanted_job kept_job;
    kept_job.job.queue = where_->name();
    kept_job.job.payload = kept(wanted.payload);
    kept_job.job.run_at = due.run_at();
    kept_job.job.delay = due.delay();
    kept_job.job.priority = options.priority;
    kept_job.job.max_attempts = options.max_attempts.value_or(where_->max_attempts);
    if (options.expires_in) {
        kept_job.job.expires_in = options.expires_in->count();
    }
    if (const unique_options& unique = options.unique; unique.key) {
        kept_job.keys.unique = {kept(*unique.key),
                                unique.scope == unique_scope::waiting_or_running};
        if (unique.period) {
            kept_job.keys.unique->period = unique.period->count();
        }
        kept_job.keys.on_conflict = stored_conflict(unique.on_conflict);
    }
    if (options.concurrency.key) {
        kept_job.keys.limit = {kept(*options.concurrency.key), options.concurrency.limit};
    }
    return kept_job;
}

void enqueue_unit::run(runtime::batch& batch)
{
    result.clear();
    result.reserve(jobs_.size());
    for (const wanted_job& each : jobs_) {
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

enqueued_job enqueue_unit::enqueue(runtime::batch& batch, const wanted_job& wanted) const
{
    queue_statements& there = where_->ready(batch);
    const std::int64_t now = to_seconds(batch.now());
    if (!wanted.keys.any()) {
        return {there.enqueuer.enqueue(wanted.job, now)};
    }
    make_tables_of(batch, wanted.keys);
    const store::enqueued_job done = there.keyed.enqueue(wanted.job, wanted.keys, now);
    return {done.id, public_outcome(done.outcome)};
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
