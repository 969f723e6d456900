#pragma once

#include "sqlite/connection.hpp"

#include <skein/database_options.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace SQLite {
class Database;
}

namespace skein::runtime {

/// The options with times that can be reckoned with. Throws `errc::invalid_argument`.
[[nodiscard]] database_options checked_options(database_options options);

/// The file as an absolute path: a later change of directory must not lead to another file. What
/// SQLite calls a database in memory, `:memory:` or `file:/<name>?vfs=memdb`, stays as it is.
/// Throws `errc::invalid_argument` for an empty path.
[[nodiscard]] std::filesystem::path resolve(const std::filesystem::path& path);

/// Opens or creates the file and sets it up as the options say. Blocks, up to `busy_timeout`, while
/// another process creates, recovers or locks it. Throws `skein::error`.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path& path,
                                                              const database_options& options);

/// The name of the journal mode that the file really has.
[[nodiscard]] std::string journal_of(sqlite::connection connection);

} // namespace skein::runtime
