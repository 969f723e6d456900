#include <skein/backoff.hpp>

#include <algorithm>
#include <cmath>

namespace skein {

duration backoff::cap(std::int64_t attempt) const noexcept
{
    // Beyond that, doubling takes the shortest pause that there is to the longest.
    constexpr std::int64_t most_doublings = 4096;
    const auto doublings = std::clamp<std::int64_t>(attempt, 1, most_doublings + 1) - 1;
    const double grown = std::ldexp(first.count(), static_cast<int>(doublings));
    return std::min(duration(grown), most);
}

duration backoff::delay(std::int64_t attempt, double random) const noexcept
{
    return cap(attempt) * std::clamp(random, 0.0, 1.0);
}

} // namespace skein
