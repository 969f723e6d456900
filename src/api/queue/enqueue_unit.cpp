#include "api/queue/enqueue_unit.hpp"

#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "api/queue/job_events.hpp"
#include "api/seconds.hpp"

#include <skein/error.hpp>

namespace skein::api {

namespace {

store::new_job stored(const queue_state& where, std::string_view payload,
                      const enqueue_options& options)
{
    if (options.delay && options.run_at) {
        throw error(errc::invalid_argument,
                    "delay and run_at: both are given; one of them is accepted");
    }
    store::new_job job;
    job.queue = where.name();
    job.payload = payload;
    job.priority = options.priority;
    job.max_attempts = options.max_attempts.value_or(where.max_attempts);
    if (options.delay) {
        job.delay = options.delay->count();
    }
    if (options.run_at) {
        job.run_at = to_seconds_or_later(*options.run_at);
    }
    if (options.expires_in) {
        job.expires_in = options.expires_in->count();
    }
    return job;
}

} // namespace

enqueue_unit::enqueue_unit(std::shared_ptr<const queue_state> where, std::span<const new_job> jobs)
    : where_(std::move(where))
{
    std::size_t length = 0;
    for (const new_job& each : jobs) {
        require_room(*where_->engine, each.payload, where_->name());
        length += each.payload.size();
    }
    payloads_.reserve(length); // views of it stay good
    jobs_.reserve(jobs.size());
    for (const new_job& each : jobs) {
        const std::size_t start = payloads_.size();
        payloads_ += each.payload;
        jobs_.push_back(stored(*where_, std::string_view(payloads_).substr(start), each.options));
        checked([&] { store::require_job(jobs_.back()); });
    }
}

void enqueue_unit::run(runtime::batch& batch)
{
    result = where_->ready(batch).enqueuer.enqueue_many(jobs_, to_seconds(batch.now()));
    batch.touch(*where_->source);
    note_enqueued(batch, *where_->source, result, job_origin::program);
}

} // namespace skein::api
