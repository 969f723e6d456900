#pragma once

#include <skein/backoff.hpp>
#include <skein/clock.hpp>
#include <skein/worker_options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace skein::worker {

/// When a run ends by itself.
enum class run_mode {
    endless,
    until_empty, ///< with the first claim that finds nothing, or with a failure of the database
};

inline constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

/// The options of a run, checked, and owned. What is longer than anything runs is no limit.
struct run_settings {
    std::size_t concurrency = 1;
    std::string worker;
    std::optional<std::chrono::seconds> visibility;
    backoff pauses;
    std::chrono::nanoseconds time_limit = no_limit;
    std::chrono::nanoseconds soft_deadline = no_limit;
    std::chrono::nanoseconds hard_deadline = no_limit;
    std::int64_t result_ttl = 0; ///< seconds; 0: without end
    run_mode mode = run_mode::endless;
};

/// Throws `errc::invalid_argument`.
[[nodiscard]] run_settings checked_settings(const worker_options& options, run_mode mode);

/// The length of the leases, in seconds, checked. Throws `errc::invalid_argument`.
void require_lease(duration visibility);

/// A delay as a queue takes it: in whole seconds, rounded up. What is longer than anybody waits is
/// cut.
[[nodiscard]] std::chrono::seconds whole_seconds(duration delay) noexcept;

} // namespace skein::worker
