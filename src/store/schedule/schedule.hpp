#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skein::store {

/// What becomes of the moments at which nobody ticked.
enum class missed_moments {
    all,  ///< each gets its job, but no more than `most_moments` in one tick: the rest is left out
    skip, ///< those that are longer ago than the grace get none
    once, ///< they get one job together
};

/// Whether a schedule fires while the job of its last moment is live.
enum class overlap_policy { allow, skip };

/// The most moments of one schedule that a tick gives their jobs.
inline constexpr int most_moments = 64;

/// A rule by which jobs are enqueued. Times are epoch seconds.
struct schedule {
    std::string name;
    std::string queue;
    std::string expression; ///< as `cron_expression::text` has it
    std::string payload;
    std::int64_t priority = 0;
    std::optional<std::int64_t> expires_in = std::nullopt; ///< seconds, of each job
    std::int64_t max_attempts = 3;                         ///< of each job
    bool is_enabled = true;
    /// Nothing when it has come to its end, or another program has stored a moment that never
    /// comes. Pausing does not change it.
    std::optional<std::int64_t> next_fire_at = std::nullopt;

    // What the shared table cannot say.
    std::optional<std::int64_t> ends_at = std::nullopt;   ///< the last moment at which it may fire
    std::optional<std::int64_t> runs_left = std::nullopt; ///< how often it still fires
    missed_moments missed = missed_moments::all;
    std::int64_t grace = 60; ///< seconds, for `missed_moments::skip`
    overlap_policy overlap = overlap_policy::allow;
    std::optional<std::int64_t> last_job = std::nullopt; ///< the one of its last moment

    bool operator==(const schedule&) const = default;
};

} // namespace skein::store
