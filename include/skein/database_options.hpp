#pragma once

#include <skein/clock.hpp>
#include <skein/log.hpp>

#include <chrono>
#include <memory>

namespace skein {

class observer;

/// What an operation that has returned survives.
enum class durability {
    full,   ///< a power cut: every commit reaches the disk before its operations return
    normal, ///< a killed process; a power cut may take the last commits, and nothing else
    off,    ///< a killed process; a power cut may corrupt the file
};

/// How SQLite keeps a transaction's other half.
enum class journal_mode {
    wal,      ///< write-ahead log: readers and the writer do not disturb each other
    truncate, ///< rollback journal, emptied after each transaction; readers block the writer
    persist,  ///< rollback journal, kept and overwritten; readers block the writer
    remove,   ///< rollback journal, deleted after each transaction; readers block the writer
};

/// How a database notices, while somebody waits, that another process has committed.
enum class watch {
    timer, ///< asks every `watch_interval`: woken within that time, at a small cost while waiting
    /// On Linux, for a file in WAL mode: is told by inotify that the log is written to, and asks at
    /// once; woken sooner than by the timer, and nearly no cost while nothing happens (the timer
    /// still asks every 100 ms, since such hints may be lost). Beside a writer that commits more
    /// often than `watch_interval` it does as the timer does. Takes one of the 128 inotify
    /// instances of a user. Where it is not possible the log says so, and the timer is used.
    hybrid,
};

/// How a database is opened and run. The defaults are safe; change what you have measured.
struct database_options {
    skein::durability durability = durability::full;

    /// A property of the file rather than of the process: the last one to open it decides.
    skein::journal_mode journal = journal_mode::wal;

    /// How long an operation waits for a lock that another process holds before it fails with
    /// `errc::busy`. No thread is blocked meanwhile, except by opening.
    std::chrono::milliseconds busy_timeout{5000};

    skein::watch watch = watch::timer;

    /// How often the file is asked whether another process has committed, while somebody waits.
    /// Shorter wakes waiters sooner and costs more processor time. With `watch::hybrid`, only
    /// beside a writer that commits more often than this; then 100 ms at most.
    std::chrono::microseconds watch_interval{1000};

    /// Whether the log is warned when the SQLite that was loaded has, by its number, the
    /// "WAL-reset" bug (repaired in 3.51.3, 3.50.7 and 3.44.6), which can lose commits of a file in
    /// WAL mode with several connections. False for a build that has been repaired under its old
    /// number, as distributions do.
    bool warn_of_wal_reset_bug = true;

    /// Receives what skein has to say; silent by default.
    log_function log = {};

    /// Is told what this database does, for metrics and tracing; see <skein/observer.hpp>. Nobody
    /// by default, which costs nothing.
    std::shared_ptr<skein::observer> observer = {};

    /// All the time that the database sees; the machine's by default.
    std::shared_ptr<skein::clock> clock = {};
};

} // namespace skein
