#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/job_burial.hpp"
#include "store/queue/job_enqueuer.hpp"
#include "store/schedule/schedule_moments.hpp"
#include "store/table_family.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// A job that a schedule has enqueued.
struct schedule_fire {
    std::string name; ///< of the schedule
    std::string queue;
    std::int64_t fire_at = 0; ///< the moment that it is for, in epoch seconds
    std::int64_t job = 0;     ///< its number

    bool operator==(const schedule_fire&) const = default;
};

/// Enqueues the jobs of the moments that have come due. Each moment gets its job once, whoever else
/// ticks: the job and the next moment are written together.
class schedule_tick {
public:
    schedule_tick(sqlite::connection connection, family_shape shape);

    /// The jobs of all schedules that are enabled and due at `due`, ordered by name and moment.
    /// They are enqueued at `now`, which is also what their expiry counts from. Both are epoch
    /// seconds; they differ where the caller has a clock of its own.
    ///
    /// A stored payload that is no JSON becomes dead letters instead. A schedule whose expression,
    /// zone or number of attempts is not valid fails all of it, with `store::invalid_argument` that
    /// names it.
    ///
    /// Wants a write transaction with a savepoint, and the tables of queues. Its first statement
    /// writes, so that it can also begin the transaction; without a due schedule nothing changes.
    std::vector<schedule_fire> tick(std::int64_t due, std::int64_t now);

private:
    [[nodiscard]] std::vector<schedule_row> take_due(std::int64_t due);
    void fire_due(schedule_row& row, std::int64_t due, std::int64_t now,
                  std::vector<schedule_fire>& fires);
    std::int64_t enqueue(const schedule& stored, std::int64_t now);
    std::int64_t bury(const schedule& stored, std::string_view defect, std::int64_t moment,
                      std::int64_t now);
    [[nodiscard]] bool must_wait(const schedule& stored);
    void advance(const schedule_row& row);

    bool has_own_;
    job_enqueuer enqueuer_;
    job_burial burial_;
    sqlite::statement take_shared_;
    sqlite::statement take_own_;
    sqlite::statement advance_shared_;
    sqlite::statement advance_own_;
    sqlite::statement find_live_;
};

} // namespace skein::store
