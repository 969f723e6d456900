#pragma once

#include <skein/export.hpp>

#include <filesystem>

struct sqlite3;

namespace skein::testing {

/// A database in memory, for tests: it leaves no file behind, and needs no directory to be in.
///
///     const skein::testing::memory_database memory;
///     skein::database db{executor, memory.path(), {.clock = time}};
///     …
///     SQLite::Database own(memory.path().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_URI);
///
/// Whatever opens its path in this process has the same tables: several databases, as if they were
/// several programs, and connections of the test's own, to look at what was written or to write
/// with an `outbox`. It is there until this object and all of them are gone, so that closing a
/// database and opening another is a restart. Two objects are two databases.
///
/// All features work. There is no write-ahead log in memory, so that a reader keeps writers
/// waiting: let no statement of the test's own stay unfinished while a database is to write.
/// (`skein::database{executor, ":memory:"}` is a database in memory, too, that nobody else sees.)
///
/// Thread-safety: safe from any thread.
class SKEIN_EXPORT memory_database {
public:
    memory_database();
    memory_database(const memory_database&) = delete;
    memory_database& operator=(const memory_database&) = delete;
    ~memory_database();

    /// What to open it by: a URI of SQLite's, `file:/…?vfs=memdb`.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
    sqlite3* kept_ = nullptr; ///< a connection: it goes with its last one
};

} // namespace skein::testing
