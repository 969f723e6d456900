#include "api/queue/enqueue_unit.hpp"

#include "api/payload_room.hpp"
#include "api/queue/job_arguments.hpp"
#include "api/seconds.hpp"

namespace skein::api {

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
        jobs_.push_back(checked_job(where_->name(), std::string_view(payloads_).substr(start),
                                    each.options, where_->max_attempts));
    }
}

void enqueue_unit::run(runtime::batch& batch)
{
    result = where_->ready(batch).enqueuer.enqueue_many(jobs_, to_seconds(batch.now()));
    batch.touch(*where_->source);
}

} // namespace skein::api
