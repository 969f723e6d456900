#pragma once

#include "sqlite/connection.hpp"

#include <skein/database_options.hpp>

#include <string>
#include <vector>

namespace skein::runtime {

/// What is worth a warning about the place and the SQLite that a file was opened with; empty as a
/// rule.
[[nodiscard]] std::vector<std::string> opening_warnings(sqlite::connection connection,
                                                        const database_options& options);

} // namespace skein::runtime
