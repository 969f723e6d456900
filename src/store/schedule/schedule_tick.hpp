#pragma once

#include "sqlite/statement.hpp"
#include "store/schedule/schedule_jobs.hpp"
#include "store/schedule/schedule_moments.hpp"
#include "store/table_family.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace skein::store {

/// A schedule that is due, and whose row cannot be understood.
struct schedule_refusal {
    std::string name;
    std::string reason; ///< what is wrong: the expression, its zone, or the number of attempts

    bool operator==(const schedule_refusal&) const = default;
};

struct tick_outcome {
    std::vector<schedule_fire> fires;       ///< by name and moment
    std::vector<schedule_refusal> refusals; ///< by name
};

/// For callers that fail whole: throws `store::invalid_argument` for the first refusal. The text is
/// `schedule "<name>": <reason>`. What the tick has written is then to be undone.
void require_no_refusal(const tick_outcome& outcome);

/// Enqueues the jobs of the moments that have come due. Each moment gets its job once, whoever else
/// ticks: the job and the next moment are written together.
class schedule_tick {
public:
    schedule_tick(sqlite::connection connection, family_shape shape);

    /// Serves all schedules that are enabled and due at `due`. Their jobs are enqueued at `now`,
    /// which is also what their expiry counts from. Both are epoch seconds; they differ where the
    /// caller has a clock of its own.
    ///
    /// A stored payload that is no JSON becomes dead letters instead. A schedule that is refused
    /// stays as it is: nothing is written for it, and it stays due.
    ///
    /// Wants a write transaction with a savepoint, and the tables of queues. Its first statement
    /// writes, so that it can also begin the transaction; without a due schedule nothing changes.
    tick_outcome tick(std::int64_t due, std::int64_t now);

private:
    [[nodiscard]] std::vector<schedule_row> find_due(std::int64_t due);
    void fire(schedule_row& row, const due_moments& moments, std::int64_t now,
              std::vector<schedule_fire>& fires);
    void advance(const schedule_row& row);

    bool has_own_;
    schedule_jobs jobs_;
    sqlite::statement lock_;
    sqlite::statement find_shared_;
    sqlite::statement find_own_;
    sqlite::statement advance_shared_;
    sqlite::statement advance_own_;
};

} // namespace skein::store
