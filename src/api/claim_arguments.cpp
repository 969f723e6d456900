#include "api/claim_arguments.hpp"

#include <skein/error.hpp>

#include <cmath>
#include <string>

namespace skein::api {

namespace {

// Longer than anybody waits, and short enough to be counted in nanoseconds.
constexpr duration longest_limit = std::chrono::hours{24 * 365 * 100};

} // namespace

std::size_t checked_most(std::size_t most)
{
    if (most == 0 || most > most_at_once) {
        throw error(errc::invalid_argument, "most: " + std::to_string(most) +
                                                " is not accepted; 1 to " +
                                                std::to_string(most_at_once) + " is");
    }
    return most;
}

runtime::patience patience_of(duration limit)
{
    if (std::isnan(limit.count())) {
        throw error(errc::invalid_argument, "limit: not a number; any length of time is accepted");
    }
    if (limit >= longest_limit) {
        return {};
    }
    if (limit <= duration::zero()) {
        return {clock::steady_time::duration::zero()};
    }
    return {std::chrono::ceil<clock::steady_time::duration>(limit)};
}

} // namespace skein::api
