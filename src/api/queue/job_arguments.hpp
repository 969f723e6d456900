#pragma once

#include "store/queue/keyed_enqueuer.hpp"

#include <skein/queue.hpp>

#include <cstdint>
#include <string_view>

namespace skein::api {

/// A job as the store takes it, with its keys; views.
struct job_request {
    store::new_job job;
    store::job_keys keys;
};

/// Throws `errc::invalid_argument` and `errc::invalid_payload`.
///
/// `max_attempts`: unless the options say otherwise.
[[nodiscard]] job_request checked_job(std::string_view queue, std::string_view payload,
                                      const enqueue_options& options, std::int64_t max_attempts);

/// What came of it, as users see it.
[[nodiscard]] enqueued_job shown(const store::enqueued_job& done) noexcept;

} // namespace skein::api
