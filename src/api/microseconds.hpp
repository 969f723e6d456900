#pragma once

#include <skein/clock.hpp>

#include <chrono>
#include <cstdint>
#include <limits>

namespace skein::api {

// The limits that pace hold whole microseconds since the epoch.

/// The microsecond that a moment lies in.
[[nodiscard]] inline std::int64_t to_microseconds(clock::wall_time time) noexcept
{
    return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

/// The way back. Microseconds that a time point cannot hold become the last, or the first, it can.
[[nodiscard]] inline clock::wall_time from_microseconds(std::int64_t microseconds) noexcept
{
    using limits = clock::wall_time;
    if (microseconds > to_microseconds(limits::max())) {
        return limits::max();
    }
    if (microseconds <= to_microseconds(limits::min())) {
        return limits::min();
    }
    return clock::wall_time(std::chrono::microseconds{microseconds});
}

/// A positive length of time; one that is too long becomes the longest.
[[nodiscard]] inline std::int64_t to_microseconds(std::chrono::seconds length) noexcept
{
    constexpr std::int64_t in_a_second = std::chrono::microseconds(std::chrono::seconds{1}).count();
    constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
    return length.count() > longest / in_a_second ? longest : length.count() * in_a_second;
}

} // namespace skein::api
