#pragma once

#include <skein/export.hpp>

#include <cstdint>
#include <string>
#include <system_error>

namespace skein {

/// What went wrong. The values are stable: they are never renumbered.
enum class errc {
    closed = 1,        ///< the database was closed, or its executor is gone; every caller must stop
    invalid_argument,  ///< misuse; the text names the argument and what is accepted
    payload_too_large, ///< longer than SQLite takes; nothing was written
    invalid_payload,   ///< a payload that cannot be encoded, or decoded as the type asked for
    busy,              ///< another connection held the file's lock longer than `busy_timeout`
    disk_full,         ///< the disk, or a limit on the file's size, is full
    storage_failure,   ///< SQLite refused for another reason, see `error::sqlite_code`
    schema_too_new,    ///< a newer skein has extended this file in a way that this one cannot read
    file_replaced,     ///< the file, or its `-wal`, was replaced or deleted while open; final
    forked,            ///< the database was opened in the process that this one was forked from
    lagged,            ///< entries of a log were removed before they were read, see `lagged`
    lock_lost,         ///< a named lock's time was over before the work that it protected
};

/// The category of `errc`; its name is "skein".
[[nodiscard]] SKEIN_EXPORT const std::error_category& error_category() noexcept;

[[nodiscard]] SKEIN_EXPORT std::error_code make_error_code(errc code) noexcept;

/// Every failure that skein reports, cancellation aside (that is asio's `operation_aborted`).
///
/// What is merely not there, stale or empty is no failure: it is returned as a value.
class SKEIN_EXPORT error : public std::system_error {
public:
    /// `sqlite_code` is SQLite's extended result code, or 0 when SQLite had no part in it.
    error(errc code, const std::string& message, int sqlite_code = 0);

    /// SQLite's extended result code, such as 517 for SQLITE_BUSY_SNAPSHOT; 0 when SQLite had no
    /// part in it.
    [[nodiscard]] int sqlite_code() const noexcept { return sqlite_code_; }

    /// Whether doing the same again later can succeed without anybody's help.
    [[nodiscard]] bool is_retryable() const noexcept;

private:
    int sqlite_code_;
};

/// Thrown to who follows a log (`listener`, `consumer`) when entries were removed before it has
/// read them. It may go on: what is still there comes next.
class SKEIN_EXPORT lagged : public error {
public:
    /// `name`: of the channel or topic.
    lagged(const std::string& name, std::int64_t first, std::int64_t last);

    /// Which entries may be missing: those from `first` to `last`, by their ids or offsets. Not
    /// each number need have been one of this log; those of them that are still there come next.
    [[nodiscard]] std::int64_t first() const noexcept { return first_; }
    [[nodiscard]] std::int64_t last() const noexcept { return last_; }

private:
    std::int64_t first_;
    std::int64_t last_;
};

} // namespace skein

template <>
struct std::is_error_code_enum<skein::errc> : std::true_type {};
