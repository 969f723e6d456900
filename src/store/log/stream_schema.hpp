#pragma once

#include "store/table_family.hpp"

namespace skein::store {

/// The tables of streams and of their consumers. Our additions: an index that finds the consumers
/// of a topic, the slowest first, and the record of what was trimmed.
[[nodiscard]] table_family stream_tables();

} // namespace skein::store
