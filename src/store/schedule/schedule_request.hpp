#pragma once

#include "store/schedule/schedule.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skein::store {

/// A schedule to be registered, as `schedule` has it.
struct new_schedule {
    std::string_view name;
    std::string_view queue;
    std::string_view expression; ///< as `parse_cron` takes it for registration
    std::string_view payload;    ///< JSON text
    std::int64_t priority = 0;
    std::optional<std::int64_t> expires_in = std::nullopt;
    std::int64_t max_attempts = 3;
    std::optional<std::int64_t> ends_at = std::nullopt;
    std::optional<std::int64_t> runs = std::nullopt; ///< at least 1
    missed_moments missed = missed_moments::all;
    /// Seconds, not negative. Kept only where it means something, or the schedule is ours anyway.
    std::int64_t grace = 60;
    overlap_policy overlap = overlap_policy::allow;
};

/// What is to become different about a schedule; what is not given stays.
struct schedule_change {
    std::optional<std::string_view> expression = std::nullopt;
    std::optional<std::string_view> payload = std::nullopt;
    std::optional<std::int64_t> priority = std::nullopt;
    /// Nothing inside: its jobs do not expire any more.
    std::optional<std::optional<std::int64_t>> expires_in = std::nullopt;
    std::optional<std::int64_t> max_attempts = std::nullopt;
    /// Nothing inside: it does not end any more.
    std::optional<std::optional<std::int64_t>> ends_at = std::nullopt;
    /// How often it fires from now on, at least 1. Nothing inside: without limit.
    std::optional<std::optional<std::int64_t>> runs = std::nullopt;
    std::optional<missed_moments> missed = std::nullopt;
    std::optional<std::int64_t> grace = std::nullopt; ///< kept as `new_schedule` tells
    std::optional<overlap_policy> overlap = std::nullopt;

    [[nodiscard]] bool is_empty() const noexcept
    {
        return !expression && !payload && !priority && !expires_in && !max_attempts && !ends_at &&
               !runs && !missed && !grace && !overlap;
    }
};

/// Throws `store::invalid_argument` and `store::invalid_payload` for what is wrong whatever the
/// time and the expression.
void require_schedule(const new_schedule& added);

/// The schedule that is asked for; it is enabled. Throws `store::invalid_argument` and
/// `store::invalid_payload`, also for one that has no moment.
[[nodiscard]] schedule made_schedule(const new_schedule& added, std::int64_t now);

/// Throws, in this order, for the number of attempts, the payload, the number of runs and the
/// grace: for what is wrong whichever schedule is to be changed.
void require_change(const schedule_change& change);

/// Makes the change, which `require_change` accepts. The next moment becomes the first one after
/// `now` when the expression changes, or when another end or number of runs lets a schedule that
/// had come to its end start again; else it stays. Throws `store::invalid_argument` for an
/// expression that has no moment, or an end before the next moment.
void apply_change(schedule& changed, const schedule_change& change, std::int64_t now);

} // namespace skein::store
