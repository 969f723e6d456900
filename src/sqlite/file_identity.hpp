#pragma once

#include "sqlite/connection.hpp"

#include <sys/types.h>

#include <string>

namespace skein::sqlite {

/// Which file a name led to when this was made, and whether it still does.
///
/// Asking costs a stat. The file is never opened for it: closing any other descriptor of it would
/// give up the locks that SQLite holds on it for this process.
class file_identity {
public:
    /// A name that leads nowhere is accepted; it is never replaced.
    explicit file_identity(std::string path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Whether the name led to a file.
    [[nodiscard]] bool is_known() const noexcept { return is_known_; }

    /// Whether the name leads to another file by now, or to none. When that cannot be told (the
    /// process has given up the right to look, say), it is assumed that nothing has happened.
    [[nodiscard]] bool is_replaced() const noexcept;

private:
    std::string path_;
    bool is_known_ = false;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

/// SQLite's own name of the database file, symbolic links followed; empty when there is no file.
[[nodiscard]] std::string database_file(connection owner);

/// SQLite's own name of the database's write-ahead log, which need not be there.
[[nodiscard]] std::string write_ahead_log_file(connection owner);

/// Whether the database's name led elsewhere already when SQLite was asked: this compares with the
/// file that it has really opened.
[[nodiscard]] bool has_moved(connection owner) noexcept;

} // namespace skein::sqlite
