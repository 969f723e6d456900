#include "api/retention.hpp"

#include <skein/error.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace skein::api {

std::int64_t checked_age(std::chrono::seconds older_than)
{
    if (older_than.count() < 0) {
        throw error(errc::invalid_argument, "older_than: " + std::to_string(older_than.count()) +
                                                " s is not accepted; zero or more is");
    }
    return older_than.count();
}

std::int64_t kept_of(std::size_t keep) noexcept
{
    constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(keep, most));
}

} // namespace skein::api
