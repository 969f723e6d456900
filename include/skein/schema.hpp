#pragma once

#include <skein/export.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The tables as SQL, for those who own their migrations: run the statements, and make the handles
/// with `create_schema = false`.
///
/// They are the very statements that skein runs by itself otherwise. Run them in their order, each
/// once, in one write transaction (`BEGIN IMMEDIATE`), so that of several programs that start
/// together one does the work. They hold no `;` at their ends and bind nothing.
namespace skein::schema {

/// The shapes that a transport's tables have had, oldest first.
enum class transport_version {
    /// A table `messages` alone: the first version of the format. All programs that use it are to
    /// be stopped before the upgrade, which renames it.
    unprefixed_messages,
    /// Tables `messages` and `groups`, with or without their indexes `messages_by_group` and
    /// `groups_by_last_claimed`. All programs that use them are to be stopped before the upgrade,
    /// which renames them.
    unprefixed,
    /// `<prefix>_transport_messages` alone.
    messages_only,
    /// `<prefix>_transport_groups` has no column `routing_key`; with or without the indexes.
    without_routing_keys,
    /// The newest shape of the format, without what skein adds: a transport works on it, and a
    /// claim costs more the more groups there are.
    without_additions,
};

/// The statements that make a transport's tables in a file that has none.
///
/// `prefix`: as in `transport_options`.
/// Throws: `skein::error` with `errc::invalid_argument` for a prefix that is not accepted.
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> transport(std::string_view prefix = "harel");

/// The statements that bring tables of an older shape to what `transport` makes. What is in them
/// stays: messages, leases, and delays.
///
/// `from`: the shape that the tables have.
/// `prefix`: the one that the tables have or, where they have none, get; such tables must not exist
///           then.
/// Throws: as `transport`, and for what is no value of `transport_version`.
[[nodiscard]] SKEIN_EXPORT std::vector<std::string>
transport_upgrade(transport_version from, std::string_view prefix = "harel");

/// The shapes that the tables of the queues have had, oldest first. All queues of a file, and the
/// results of their jobs, share one set of tables.
enum class queue_version {
    /// `_honker_live` has no column `claimed_at`. All programs that use it are to be stopped before
    /// the upgrade: they would not see the jobs of the future any more.
    without_claimed_at,
    /// `_honker_live` has an index `_honker_live_claim`, and jobs of the future are pending. All
    /// programs that use it are to be stopped before the upgrade, as above.
    without_scheduled_state,
    /// The newest shape of the format, without what skein adds: queues work on it, and listing and
    /// pruning dead letters and results costs more the more of them there are.
    without_additions,
};

/// The statements that make the tables of the queues in a file that has none.
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> queue();

/// The statements that bring tables of an older shape to what `queue` makes. What is in them stays:
/// jobs, leases, dead letters, and results. Jobs of the future become scheduled, by the clock of
/// SQLite; pending ones without attempts left, which no claim would take, become dead letters.
///
/// `from`: the shape that the tables have.
/// Throws: `skein::error` with `errc::invalid_argument` for what is no value of `queue_version`.
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> queue_upgrade(queue_version from);

/// The shapes that the table of schedules has had, oldest first.
enum class schedule_version {
    without_enabled,      ///< `_honker_scheduler_tasks` has no column `enabled`
    without_max_attempts, ///< it has no column `max_attempts`
    without_additions,    ///< the newest shape of the format, without what skein adds
};

/// The statements that make the tables of schedules in a file that has none. Schedules that fire
/// need those of queues, too.
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> schedules();

/// The statements that bring a table of an older shape to what `schedules` makes. What is in it
/// stays: its schedules are enabled, and their jobs tried 3 times.
///
/// `from`: the shape that the table has.
/// Throws: `skein::error` with `errc::invalid_argument` for what is no value of `schedule_version`.
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> schedules_upgrade(schedule_version from);

/// The statements that make the tables of notifications, of streams and their consumers, of named
/// locks, and of rate limits. Each makes what is missing, in a file that has none of it as well as
/// beside the tables of a program that knows the format alone; what is there it leaves as it is.
/// They may be run again.
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> notifications();
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> streams();
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> locks();
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> rate_limits();

/// What stands beside the tables of the queues, which must be there, where it is used: keys of
/// unique jobs; limits per key and paused queues; requests to stop. As above, they may be run
/// again.
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> unique_jobs();
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> held_jobs();
[[nodiscard]] SKEIN_EXPORT std::vector<std::string> stop_requests();

} // namespace skein::schema
