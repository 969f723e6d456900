#pragma once

#include <skein/clock.hpp>

namespace skein::runtime {

/// Wall-clock time as the transport's tables hold it: seconds since the epoch, with fractions.
[[nodiscard]] inline double to_epoch(clock::wall_time time) noexcept
{
    return duration(time.time_since_epoch()).count();
}

/// The way back. Moments that a time point cannot hold become the last, or the first, it can.
[[nodiscard]] inline clock::wall_time from_epoch(double seconds) noexcept
{
    if (seconds >= duration(clock::wall_time::max().time_since_epoch()).count()) {
        return clock::wall_time::max();
    }
    if (!(seconds > duration(clock::wall_time::min().time_since_epoch()).count())) {
        return clock::wall_time::min();
    }
    return clock::wall_time(
        std::chrono::duration_cast<clock::wall_time::duration>(duration(seconds)));
}

} // namespace skein::runtime
