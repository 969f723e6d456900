#pragma once

#include "sqlite/connection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// The formats that skein shares with other programs carry no version. What skein adds to a file
/// does, in the table `_skein_meta`, so that an older skein can tell that it would do harm.

/// Throws `schema_too_new` when the file's addition of this name is newer than `known_version`.
void require_known_addition(sqlite::connection connection, std::string_view name,
                            int known_version);

/// The statements that write down the version of an addition, for the transaction that makes it.
/// `name` holds no quotation mark.
[[nodiscard]] std::vector<std::string> addition_record(std::string_view name, int version);

} // namespace skein::store
