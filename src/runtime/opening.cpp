#include "runtime/opening.hpp"

#include "runtime/event_log.hpp"
#include "runtime/failure.hpp"
#include "sqlite/statement.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include <algorithm>
#include <string_view>
#include <thread>

namespace skein::runtime {

namespace {

// Longer than anybody waits, and short enough to be counted in nanoseconds.
constexpr std::chrono::hours longest_option{24 * 365 * 100};

constexpr int page_cache = 16 * 1024;

// Where the log ends up after a burst, instead of staying as large as it ever was.
constexpr int largest_idle_journal = 32 * 1024 * 1024;

std::string ask(sqlite::connection connection, const std::string& pragma)
{
    sqlite::statement statement(connection, pragma);
    sqlite::execution found = statement.start();
    return found.step() ? std::string(found.text(0)) : std::string();
}

std::string_view pragma_value(journal_mode journal)
{
    switch (journal) {
    case journal_mode::wal:
        return "wal";
    case journal_mode::truncate:
        return "truncate";
    case journal_mode::persist:
        return "persist";
    case journal_mode::remove:
        return "delete";
    }
    throw error(errc::invalid_argument, "journal: not a value of journal_mode");
}

std::string_view pragma_value(durability level)
{
    switch (level) {
    case durability::full:
        return "FULL";
    case durability::normal:
        return "NORMAL";
    case durability::off:
        return "OFF";
    }
    throw error(errc::invalid_argument, "durability: not a value of durability");
}

/// SQLite's name of a database in memory that the connections of this process share.
bool is_shared_memory(const std::string& path)
{
    return path.starts_with("file:/") && path.ends_with("?vfs=memdb");
}

bool may_succeed_later(const sqlite::error& refusal)
{
    // SQLITE_PROTOCOL: too many openers at once, says SQLite's log of the write-ahead log.
    return refusal.is_busy() || refusal.primary_code() == SQLITE_PROTOCOL;
}

/// SQLite's own busy handler does not serve a change of the journal mode.
template <class Step>
void retry_while_busy(std::chrono::milliseconds timeout, Step step)
{
    const auto give_up = std::chrono::steady_clock::now() + timeout;
    while (true) {
        try {
            step();
            return;
        } catch (const sqlite::error& refusal) {
            if (!may_succeed_later(refusal) || std::chrono::steady_clock::now() >= give_up) {
                throw;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

/// A change of the journal mode needs the file for itself, and its refusal is no error: SQLite
/// answers with the mode that stays.
void set_journal(sqlite::connection connection, const database_options& options)
{
    const std::string wanted(pragma_value(options.journal));
    if (journal_of(connection) == wanted) {
        return;
    }
    const std::string got = ask(connection, "PRAGMA journal_mode = " + wanted);
    if (got != wanted && got != "memory" && options.log) {
        options.log(log_level::warning, sqlite3_db_filename(connection.handle(), "main") +
                                            (": journal mode " + wanted + " was refused, it is ") +
                                            got);
    }
}

void set_up(sqlite::connection connection, const database_options& options)
{
    set_journal(connection, options);
    connection.execute("PRAGMA synchronous = " + std::string(pragma_value(options.durability)));
    connection.execute("PRAGMA journal_size_limit = " + std::to_string(largest_idle_journal));
    // A savepoint keeps the pages that change after it; in a file they would be written for
    // nothing.
    connection.execute("PRAGMA temp_store = MEMORY");
    // A batch changes many pages; what does not fit is written to the log and read again. In kB.
    connection.execute("PRAGMA cache_size = -" + std::to_string(page_cache));
    // Checkpoints run between batches, never inside somebody's commit.
    connection.execute("PRAGMA wal_autocheckpoint = 0");
    // The first read does what a crash has left to be done.
    ask(connection, "SELECT count(*) FROM sqlite_schema");
    if (options.observer) {
        event_log::prepare(connection);
    }
}

} // namespace

database_options checked_options(database_options options)
{
    if (options.watch_interval <= options.watch_interval.zero()) {
        throw error(errc::invalid_argument,
                    "watch_interval: zero or negative; a positive time is accepted");
    }
    if (options.busy_timeout < options.busy_timeout.zero()) {
        throw error(errc::invalid_argument, "busy_timeout: negative; zero and more is accepted");
    }
    if (options.watch != watch::timer && options.watch != watch::hybrid) {
        throw error(errc::invalid_argument, "watch: not a value of watch");
    }
    options.watch_interval =
        std::min<std::chrono::microseconds>(options.watch_interval, longest_option);
    options.busy_timeout =
        std::min<std::chrono::milliseconds>(options.busy_timeout, longest_option);
    return options;
}

std::string journal_of(sqlite::connection connection)
{
    return ask(connection, "PRAGMA journal_mode");
}

std::filesystem::path resolve(const std::filesystem::path& path)
{
    if (path.empty()) {
        throw error(errc::invalid_argument, "path: empty; the path of a file is accepted");
    }
    const bool is_memory = path == ":memory:" || is_shared_memory(path.string());
    return is_memory ? path : std::filesystem::absolute(path).lexically_normal();
}

std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path& path,
                                                const database_options& options)
{
    const std::string file = path.string();
    try {
        // One strand uses the connection, so SQLite's own mutex would only cost.
        const int flags = SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX;
        auto database = std::make_unique<SQLite::Database>(
            file, is_shared_memory(file) ? flags | SQLite::OPEN_URI : flags);
        const sqlite::connection connection(database->getHandle());
        sqlite3_extended_result_codes(connection.handle(), 1);
        if (sqlite3_db_readonly(connection.handle(), "main") == 1) {
            throw error(errc::storage_failure, file + ": the file is not writable",
                        SQLITE_READONLY);
        }
        retry_while_busy(options.busy_timeout, [&] { set_up(connection, options); });
        return database;
    } catch (const sqlite::error& refusal) {
        if (may_succeed_later(refusal)) {
            throw busy_error(file);
        }
        throw to_error(refusal, file);
    } catch (const SQLite::Exception& refusal) {
        throw error(errc::storage_failure, file + ": " + refusal.what(),
                    refusal.getExtendedErrorCode());
    }
}

} // namespace skein::runtime
