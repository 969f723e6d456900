#pragma once

#include "store/transport/transport_schema.hpp"

#include <string>
#include <vector>

namespace skein::store {

/// The statements that make what `present` lacks, our additions included, in their order. They
/// belong into one write transaction; those that make something twice do nothing the second time,
/// those that add a column do not.
[[nodiscard]] std::vector<std::string> completing_statements(const transport_names& names,
                                                             const transport_tables& present);

/// The statements that give the tables `messages` and, if they are there, `groups` of the format's
/// first versions the names of a transport that has no tables yet.
[[nodiscard]] std::vector<std::string> renaming_statements(const transport_names& names,
                                                           bool has_groups);

} // namespace skein::store
