#pragma once

#include "store/queue/queue_inspection.hpp"

#include <skein/job_info.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace skein::api {

/// Makes what the public sees of a job.
struct job_info_maker {
    /// `now` in epoch seconds: whether a lease holds depends on it.
    [[nodiscard]] static job_info make(store::live_job job, std::int64_t now);
    [[nodiscard]] static job_info make(store::dead_letter letter);
    /// Nothing when nothing was found.
    [[nodiscard]] static std::optional<job_info> make(store::found_job found, std::int64_t now);
};

/// The size of a page, checked. Throws `errc::invalid_argument`.
[[nodiscard]] std::int64_t checked_limit(std::size_t limit);

} // namespace skein::api
