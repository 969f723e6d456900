#pragma once

#include "sqlite/statement.hpp"
#include "store/schedule/schedule_request.hpp"
#include "store/schedule/schedule_statements.hpp"
#include "store/table_family.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace skein::store {

/// The schedules of a file. One that every program understands stands in the table that they share;
/// one with a zone, an end, a number of runs or a policy of its own in one of ours, which only
/// skein ticks. A name stands in one of the two: whoever registers it last, replaces it in both.
///
/// What writes wants a write transaction with a savepoint, and throws `sqlite::error` where a
/// trigger ignores it. Times are epoch seconds.
class schedules {
public:
    schedules(sqlite::connection connection, family_shape shape);

    /// Adds the schedule, or replaces all of it but whether it is enabled, and its last job. Its
    /// first moment is the first one after `now`. Throws `store::invalid_argument` and
    /// `store::invalid_payload`, also for one that has no moment, or that this file has no table
    /// for.
    void register_schedule(const new_schedule& added, std::int64_t now);

    /// Returns whether there was one.
    bool unregister(std::string_view name);

    /// Return whether that changed it. The moments of a pause are missed ones.
    bool pause(std::string_view name);
    bool resume(std::string_view name);

    /// Returns false when there is no such schedule, or nothing to change. Which changes move its
    /// next moment `apply_change` tells. The schedule moves to the table that can hold it; the
    /// shared one does not keep its last job. Throws as registering does, in this order: for what
    /// `require_change` refuses, and, if there is such a schedule, for the expression and the end.
    bool update(std::string_view name, const schedule_change& change, std::int64_t now);

    /// All of them by name. Only reads.
    [[nodiscard]] std::vector<schedule> list();

    /// Nothing when there is no such schedule. Only reads.
    [[nodiscard]] std::optional<schedule> find(std::string_view name);

    /// The next moment of all that are enabled; nothing when there is none. Only reads.
    [[nodiscard]] std::optional<std::int64_t> soonest();

    /// The same of all moments strictly after this one: what to wait for when a tick at `moment`
    /// has left a schedule alone, which stays due. Only reads.
    [[nodiscard]] std::optional<std::int64_t> soonest_after(std::int64_t moment);

    /// How many that are enabled are due at `moment`: more than a tick has left alone when another
    /// one has been added, changed or resumed. Only reads.
    [[nodiscard]] std::int64_t count_due(std::int64_t moment);

private:
    /// What is done to one of the tables.
    struct table_access {
        table_access(sqlite::connection connection, const schedule_statements& texts);

        sqlite::statement put;
        sqlite::statement remove;
        sqlite::statement find;
        sqlite::statement pause;
        sqlite::statement resume;
    };

    void put(const schedule& wanted);
    static bool remove_from(table_access& table, std::string_view name);

    bool has_own_;
    table_access shared_;
    table_access own_;
    sqlite::statement list_;
    sqlite::statement find_;
    sqlite::statement soonest_;
    sqlite::statement soonest_after_;
    sqlite::statement count_due_;
};

} // namespace skein::store
