#pragma once

#include "store/table_family.hpp"

namespace skein::store {

/// The table of rate limits that count in windows. Our additions: the one of limits that pace, and
/// an index for sweeping each.
[[nodiscard]] table_family rate_limit_tables();

} // namespace skein::store
