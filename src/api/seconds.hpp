#pragma once

#include <skein/clock.hpp>

#include <chrono>
#include <cstdint>

namespace skein::api {

// The queue's tables hold whole seconds since the epoch.

/// The second that a moment lies in.
[[nodiscard]] inline std::int64_t to_seconds(clock::wall_time time) noexcept
{
    return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// The first second that does not lie before a moment.
[[nodiscard]] inline std::int64_t to_seconds_or_later(clock::wall_time time) noexcept
{
    return std::chrono::ceil<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// The way back. Seconds that a time point cannot hold become the last, or the first, it can.
[[nodiscard]] inline clock::wall_time from_seconds(std::int64_t seconds) noexcept
{
    using limits = clock::wall_time;
    if (seconds > to_seconds(limits::max())) {
        return limits::max();
    }
    if (seconds < to_seconds_or_later(limits::min())) {
        return limits::min();
    }
    return clock::wall_time(std::chrono::seconds{seconds});
}

} // namespace skein::api
