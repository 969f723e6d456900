#pragma once

#include "store/table_family.hpp"

namespace skein::store {

/// The table of named locks. Our addition: the fence of each lock that is there, a number from one
/// counter for all of them. Triggers draw it, so that a lock that another program takes counts too,
/// and SQLite never gives a number of such a counter twice, so that nothing need be kept of locks
/// that were released.
[[nodiscard]] table_family lock_tables();

} // namespace skein::store
