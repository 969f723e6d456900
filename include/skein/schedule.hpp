#pragma once

#include <skein/clock.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein {

/// What becomes of the moments of a schedule at which no scheduler ran, or the schedule was paused.
enum class missed_moments {
    /// Each gets its job, but no more than 64 in one go: of longer times the first 64 do, and the
    /// rest is left out. What every program does that knows the format alone.
    all,
    once, ///< they get one job together
    skip, ///< those that are longer ago than `schedule_options::grace` get none
};

/// What a schedule does when the job of its last moment is still there: waiting, or in somebody's
/// hands. One that has ended, dead letters included, is not there any more.
enum class overlap_policy {
    allow, ///< enqueues the next one beside it
    skip,  ///< leaves the moment out
};

/// What goes with a schedule.
///
/// What the last five say, and a time zone, no other program understands: such a schedule is kept
/// in a table of skein's own, where only skein serves it. All others are served by every program
/// that knows the format.
struct schedule_options {
    /// Of each job; see `enqueue_options::priority`.
    std::int64_t priority = 0;

    /// After this long a job that nobody has claimed is worthless, see
    /// `enqueue_options::expires_in`. Absent: never.
    std::optional<std::chrono::seconds> expires_in = {};

    /// How often each job is tried; at least 1.
    std::int64_t max_attempts = 3;

    /// Accepts an expression without a time zone that restricts the day of the month and that of
    /// the week: both must fit, "0 0 13 * 5" is Friday the 13th.
    bool both_days = false;

    /// The last moment at which it may fire. Absent: it does not end by time.
    std::optional<clock::wall_time> ends_at = {};

    /// How many jobs it enqueues before it has come to its end; at least 1. Absent: without limit.
    std::optional<std::int64_t> runs = {};

    missed_moments missed = missed_moments::all;

    /// How late a job may be enqueued; zero or more. Only for `missed_moments::skip`. Absent: 60 s.
    std::optional<std::chrono::seconds> grace = {};

    overlap_policy overlap = overlap_policy::allow;
};

/// What is to become different about a schedule: what is given. What is not stays as it is.
struct schedule_change {
    /// Its next moment is then the first one after now. Everything else leaves that where it is,
    /// unless the schedule had come to its end and starts again.
    std::optional<std::string_view> expression = {};

    std::optional<std::string_view> payload = {};
    std::optional<std::int64_t> priority = {};

    /// `std::chrono::seconds::max()`: its jobs do not expire any more.
    std::optional<std::chrono::seconds> expires_in = {};

    std::optional<std::int64_t> max_attempts = {};

    /// Goes with `expression`, see `schedule_options::both_days`.
    bool both_days = false;

    /// `clock::wall_time::max()`: it does not end by time any more.
    std::optional<clock::wall_time> ends_at = {};

    /// How many jobs it enqueues from now on. The greatest number: without limit.
    std::optional<std::int64_t> runs = {};

    std::optional<missed_moments> missed = {};

    /// Only for `missed_moments::skip`.
    std::optional<std::chrono::seconds> grace = {};

    std::optional<overlap_policy> overlap = {};
};

/// A schedule as it is in the file.
struct schedule {
    std::string name;
    std::string queue;
    /// In numbers alone: "MON" is 1 and "@daily" is "0 0 * * *"; behind "CRON_TZ=<zone> ", if any.
    std::string expression;
    std::string payload;
    std::int64_t priority = 0;
    std::optional<std::chrono::seconds> expires_in;
    std::int64_t max_attempts = 0;
    bool is_paused = false;
    /// When it fires next, whether paused or not; nothing when it has come to its end.
    std::optional<clock::wall_time> next_at;
    std::optional<clock::wall_time> ends_at;
    std::optional<std::int64_t> runs_left; ///< nothing: without limit
    missed_moments missed = missed_moments::all;
    std::optional<std::chrono::seconds> grace; ///< only for `missed_moments::skip`
    overlap_policy overlap = overlap_policy::allow;
    /// The number of the job of its last moment, as far as skein keeps it: of schedules in its own
    /// table.
    std::optional<std::int64_t> last_job;
};

} // namespace skein
