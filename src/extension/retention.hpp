#pragma once

#include "extension/call.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace skein::extension {

/// All of them, where something removes "at most so many".
inline constexpr std::int64_t all_of_them = -1;

/// What is to be kept of rows that nobody removes otherwise.
struct retention {
    std::optional<std::int64_t> older_than; ///< seconds: what is older is given up
    std::optional<std::int64_t> keep;       ///< so many of the newest are kept
};

/// The two arguments from `index` on, at least one of them not NULL and none negative. Throws
/// `bad_argument`.
[[nodiscard]] inline retention retention_of(const call& from, std::size_t index)
{
    const retention wanted{from.integer_or_null(index), from.integer_or_null(index + 1)};
    if (wanted.older_than.value_or(0) < 0 || wanted.keep.value_or(0) < 0) {
        throw bad_argument(std::string(from.function()) +
                           ": older_than_s and keep must not be negative");
    }
    if (!wanted.older_than && !wanted.keep) {
        throw bad_argument(std::string(from.function()) +
                           ": older_than_s and keep are both NULL; one of them, or both, is"
                           " accepted as a number");
    }
    return wanted;
}

} // namespace skein::extension
