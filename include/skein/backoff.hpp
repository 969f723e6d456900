#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>

#include <chrono>
#include <cstdint>

namespace skein {

/// How long to wait before another attempt: exponential back-off with full jitter. The longest
/// possible pause doubles from attempt to attempt, and the pause is anything up to it, so that what
/// has failed together does not come back together.
struct backoff {
    /// The longest pause after the first attempt; zero or more. Zero: never any pause.
    duration first = std::chrono::seconds{5};

    /// What the longest pause grows to; not less than `first`.
    duration most = std::chrono::hours{1};

    /// The longest pause after this attempt, counted from 1. Never shorter than after the one
    /// before, for whatever number.
    [[nodiscard]] SKEIN_EXPORT duration cap(std::int64_t attempt) const noexcept;

    /// The pause after this attempt.
    ///
    /// `random`: which of the possible ones: 0 is none, 1 is the longest.
    [[nodiscard]] SKEIN_EXPORT duration delay(std::int64_t attempt, double random) const noexcept;
};

} // namespace skein
