#pragma once

#include "store/queue/queue_schema.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// The statements that make what `present` lacks, our additions included, in their order. They
/// belong into one write transaction; those that make something twice do nothing the second time,
/// the one that adds a column does not.
///
/// `now` is the time in epoch seconds as an expression of SQL: a number, or `unixepoch()`.
[[nodiscard]] std::vector<std::string> completing_queue_statements(const queue_tables& present,
                                                                   std::string_view now);

} // namespace skein::store
