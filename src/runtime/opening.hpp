#pragma once

#include <skein/database_options.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace SQLite {
class Database;
}

namespace skein::runtime {

/// The file as an absolute path: a later change of directory must not lead to another file.
/// Throws `errc::invalid_argument` for an empty path.
[[nodiscard]] std::filesystem::path resolve(const std::filesystem::path& path);

/// Opens or creates the file and sets it up as the options say. Blocks, up to `busy_timeout`, while
/// another process creates, recovers or locks it. Throws `skein::error`.
[[nodiscard]] std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path& path,
                                                              const database_options& options);

} // namespace skein::runtime
