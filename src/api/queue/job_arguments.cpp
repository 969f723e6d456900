#include "api/queue/job_arguments.hpp"

#include "api/misuse.hpp"
#include "api/seconds.hpp"

#include <skein/error.hpp>

namespace skein::api {

store::new_job checked_job(std::string_view queue, std::string_view payload,
                           const enqueue_options& options, std::int64_t max_attempts)
{
    if (options.delay && options.run_at) {
        throw error(errc::invalid_argument,
                    "delay and run_at: both are given; one of them is accepted");
    }
    store::new_job job;
    job.queue = queue;
    job.payload = payload;
    job.priority = options.priority;
    job.max_attempts = options.max_attempts.value_or(max_attempts);
    if (options.delay) {
        job.delay = options.delay->count();
    }
    if (options.run_at) {
        job.run_at = to_seconds_or_later(*options.run_at);
    }
    if (options.expires_in) {
        job.expires_in = options.expires_in->count();
    }
    checked([&] { store::require_job(job); });
    return job;
}

} // namespace skein::api
