#pragma once

#include <cstdint>
#include <limits>

namespace skein::store {

/// The sum, or the end of the range that it would leave: a delay of "for ever" must not become one
/// of the past.
[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept
{
    using limits = std::numeric_limits<std::int64_t>;
    if (b > 0 && a > limits::max() - b) {
        return limits::max();
    }
    if (b < 0 && a < limits::min() - b) {
        return limits::min();
    }
    return a + b;
}

/// The difference, in the same way.
[[nodiscard]] constexpr std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) noexcept
{
    using limits = std::numeric_limits<std::int64_t>;
    if (b > 0 && a < limits::min() + b) {
        return limits::min();
    }
    if (b < 0 && a > limits::max() + b) {
        return limits::max();
    }
    return a - b;
}

} // namespace skein::store
