#pragma once

#include "sqlite/api.hpp"
#include "sqlite/error.hpp"

#include <cstdint>
#include <string>

namespace skein::sqlite {

/// A view of an open SQLite connection. It owns nothing, so that the same code serves a
/// connection of ours, a user's and a host program's. Confined to one thread at a time.
class connection {
public:
    explicit connection(sqlite3* handle) noexcept : handle_(handle) {}

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

    /// Runs statements that return no rows. Throws `sqlite::error`.
    void execute(const std::string& sql) const;

    /// The rows that the last INSERT, UPDATE or DELETE changed itself (triggers not counted).
    [[nodiscard]] int changes() const noexcept { return sqlite3_changes(handle_); }

    /// All rows that have been changed so far, those that triggers changed included; it may begin
    /// anew at the lowest number.
    [[nodiscard]] int total_changes() const noexcept { return sqlite3_total_changes(handle_); }

    [[nodiscard]] std::int64_t last_insert_rowid() const noexcept
    {
        return sqlite3_last_insert_rowid(handle_);
    }
    void set_last_insert_rowid(std::int64_t row) const noexcept
    {
        sqlite3_set_last_insert_rowid(handle_, row);
    }

    /// Whether a transaction is open. SQLite can end one by itself, whatever code it returns.
    [[nodiscard]] bool in_transaction() const noexcept
    {
        return sqlite3_get_autocommit(handle_) == 0;
    }

    /// Resets every statement that was left unfinished: one such would keep a transaction open.
    void reset_statements() const noexcept;

    /// Whether a deferred foreign key is violated just now: a commit would fail.
    [[nodiscard]] bool has_violated_foreign_keys() const noexcept;

    /// Closing will neither move the write-ahead log into the file nor delete it.
    void leave_log_behind() const noexcept;

    /// The longest text or row that this connection takes, in bytes.
    [[nodiscard]] std::size_t length_limit() const noexcept;

    /// The error that SQLite has just reported on this connection.
    [[nodiscard]] error last_error() const;

private:
    sqlite3* handle_;
};

} // namespace skein::sqlite
