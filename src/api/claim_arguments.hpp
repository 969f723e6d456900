#pragma once

#include "runtime/waiter.hpp"

#include <skein/clock.hpp>

#include <cstddef>

namespace skein::api {

// What one claim may take, and one call serve: it is claimed while the write lock is held.
inline constexpr std::size_t most_at_once = 1000;

/// How many are wanted, checked. Throws `errc::invalid_argument`.
[[nodiscard]] std::size_t checked_most(std::size_t most);

/// A public limit: zero or negative means now or nothing, the longest duration no limit. Throws
/// `errc::invalid_argument`.
[[nodiscard]] runtime::patience patience_of(duration limit);

} // namespace skein::api
