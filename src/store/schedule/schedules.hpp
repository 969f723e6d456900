#pragma once

#include "sqlite/statement.hpp"
#include "store/schedule/schedule_rows.hpp"
#include "store/table_family.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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
    std::int64_t grace = 60; ///< seconds, not negative
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

    [[nodiscard]] bool is_empty() const noexcept
    {
        return !expression && !payload && !priority && !expires_in && !max_attempts;
    }
};

/// The schedules of a file. One that every program understands stands in the table that they share;
/// one with a zone, an end, a number of runs or a policy of its own in one of ours, which only
/// skein ticks. A name stands in one of the two: whoever registers it last, replaces it in both.
///
/// What writes wants a write transaction with a savepoint. Times are epoch seconds.
class schedules {
public:
    schedules(sqlite::connection connection, family_shape shape);

    /// Adds the schedule, or replaces all of it but whether it is enabled. Its first moment is the
    /// first one after `now`. Throws `store::invalid_argument` and `store::invalid_payload`, also
    /// for one that has no moment, or that this file has no table for.
    void register_schedule(const new_schedule& added, std::int64_t now);

    /// Returns whether there was one.
    bool unregister(std::string_view name);

    /// Return whether that changed it. The moments of a pause are missed ones.
    bool pause(std::string_view name);
    bool resume(std::string_view name);

    /// Returns false when there is no such schedule, or nothing to change. Only another expression
    /// changes its next moment, which is then the first one after `now`. Throws as registering
    /// does, in this order: for the number of attempts, the payload, and, if there is such a
    /// schedule, the expression.
    bool update(std::string_view name, const schedule_change& change, std::int64_t now);

    /// All of them by name. Only reads.
    [[nodiscard]] std::vector<schedule> list();

    /// Nothing when there is no such schedule. Only reads.
    [[nodiscard]] std::optional<schedule> find(std::string_view name);

    /// The next moment of all that are enabled; nothing when there is none. Only reads.
    [[nodiscard]] std::optional<std::int64_t> soonest();

private:
    void put(const schedule& wanted);
    bool change_both(sqlite::statement& shared, sqlite::statement& own, std::string_view name);

    bool has_own_;
    sqlite::statement put_shared_;
    sqlite::statement put_own_;
    sqlite::statement remove_shared_;
    sqlite::statement remove_own_;
    sqlite::statement pause_shared_;
    sqlite::statement pause_own_;
    sqlite::statement resume_shared_;
    sqlite::statement resume_own_;
    sqlite::statement list_;
    sqlite::statement find_;
    sqlite::statement soonest_;
};

} // namespace skein::store
