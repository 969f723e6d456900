#pragma once

#include <skein/clock.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace skein {

/// How long a job that is unique holds its key.
enum class unique_scope {
    waiting,            ///< until it is claimed; and again while it waits for another attempt
    waiting_or_running, ///< until it has come to its end
};

/// What an `enqueue` does when another job holds the key. A job that runs, or has come to its end,
/// is never changed.
enum class on_conflict {
    skip,             ///< nothing
    replace_payload,  ///< give the job that waits the new payload
    move_due_time,    ///< let the job that waits be due when the new one would have been
    replace_and_move, ///< both
};

/// Lets at most one job of a queue have a key.
///
/// Whether there is such a job is decided with the job's commit, among all processes that use the
/// file. A job that is tried again takes its key back if nobody else has it by then, and goes on
/// without it otherwise. A dead letter holds no key, and a job that is made of it has none.
struct unique_options {
    /// Any text. Absent: the job is not unique.
    std::optional<std::string_view> key = {};

    unique_scope scope = unique_scope::waiting;

    /// From its `enqueue` on, the key is taken for this long in any case, even if the job comes to
    /// its end; at least 1 s. Absent: a job that has come to its end holds nothing.
    std::optional<std::chrono::seconds> period = {};

    skein::on_conflict on_conflict = skein::on_conflict::skip;
};

/// Lets only so many jobs of a queue run at once that have the same key.
///
/// A job runs from its claim on until it is acknowledged, given back, made a dead letter, or
/// cancelled. One whose worker has died keeps its place until it is claimed again or, when that was
/// its last attempt, made a dead letter. While a key is full, its other jobs are held aside, so
/// that they keep nobody from the jobs of other keys; the next in the order of claims gets the
/// place that becomes free.
struct concurrency_options {
    /// Any text. Absent: the job is not limited.
    std::optional<std::string_view> key = {};

    /// How many; at least 1. What was said last of a key holds for all jobs that have it. An
    /// `enqueue` takes time in proportion to it.
    std::int64_t limit = 1;
};

/// What came of an `enqueue`.
enum class enqueue_outcome {
    created, ///< there is a new job
    skipped, ///< another job holds the key, and was left as it is
    changed, ///< another job holds the key, and was changed
};

/// A job that was enqueued, or the one that holds its key. It can be used as the job's number.
struct enqueued_job {
    /// The number of the job; of one that holds its key for a period, it may be gone.
    std::int64_t id = 0;
    enqueue_outcome outcome = enqueue_outcome::created;

    [[nodiscard]] bool is_created() const noexcept { return outcome == enqueue_outcome::created; }
    operator std::int64_t() const noexcept { return id; } // NOLINT(google-explicit-constructor)
};

/// What is to become different of a job that waits; what is absent stays as it is.
struct job_change {
    /// As for `enqueue`.
    std::optional<std::string_view> payload = {};
    std::optional<std::int64_t> priority = {};

    /// When it is due, by one of both: as for `enqueue`.
    std::optional<std::chrono::seconds> delay = {};
    std::optional<clock::wall_time> run_at = {};
};

} // namespace skein
