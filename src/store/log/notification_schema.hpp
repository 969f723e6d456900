#pragma once

#include "store/table_family.hpp"

namespace skein::store {

/// The table of notifications. Our additions: an index for pruning by age, and the record of what
/// was removed.
[[nodiscard]] table_family notification_tables();

} // namespace skein::store
