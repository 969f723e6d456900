#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace skein::api {

/// The age that something is removed at, in seconds. Throws `errc::invalid_argument` for a negative
/// one.
[[nodiscard]] std::int64_t checked_age(std::chrono::seconds older_than);

/// How many are kept; more than a file can hold count as so many.
[[nodiscard]] std::int64_t kept_of(std::size_t keep) noexcept;

} // namespace skein::api
