#pragma once

#include "store/queue/job_enqueuer.hpp"

#include <skein/queue.hpp>

#include <cstdint>
#include <string_view>

namespace skein::api {

/// A job as the store takes it, a view of the queue's name and of the payload. Throws
/// `errc::invalid_argument` and `errc::invalid_payload`.
///
/// `max_attempts`: unless the options say otherwise.
[[nodiscard]] store::new_job checked_job(std::string_view queue, std::string_view payload,
                                         const enqueue_options& options, std::int64_t max_attempts);

} // namespace skein::api
