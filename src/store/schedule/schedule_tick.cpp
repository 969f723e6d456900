#include "store/schedule/schedule_tick.hpp"

#include "store/error.hpp"
#include "store/queue/error_text.hpp"

#include <algorithm>
#include <tuple>

namespace skein::store {

namespace {

constexpr schedule_table shared = schedule_table::shared;
constexpr schedule_table own = schedule_table::own;

/// Takes the write lock before anything is read, and touches no row: a trigger that ignores changes
/// would hide the row that is due.
std::string lock_file()
{
    return "UPDATE " + name_of(shared) + " SET queue = queue WHERE rowid = NULL";
}

std::string find_due_in(schedule_table table)
{
    return "SELECT " + schedule_columns(table) + " FROM " + name_of(table) +
           " WHERE next_fire_at <= ?1 AND enabled";
}

std::string advance_in(schedule_table table, const std::string& more)
{
    return "UPDATE " + name_of(table) + " SET next_fire_at = ?2" + more + " WHERE rowid = ?1";
}

/// Throws `store::invalid_argument` for a row that cannot be understood.
due_moments understood(const schedule_row& row, std::int64_t due)
{
    require_max_attempts(row.stored.max_attempts);
    return moments_due(row, due);
}

} // namespace

void require_no_refusal(const tick_outcome& outcome)
{
    if (!outcome.refusals.empty()) {
        const schedule_refusal& first = outcome.refusals.front();
        throw invalid_argument(mention(first.name) + ": " + first.reason);
    }
}

schedule_tick::schedule_tick(sqlite::connection connection, family_shape shape)
    : has_own_(shape == family_shape::complete), jobs_(connection), lock_(connection, lock_file()),
      find_shared_(connection, find_due_in(shared)), find_own_(connection, find_due_in(own)),
      advance_shared_(connection, advance_in(shared, "")),
      advance_own_(connection, advance_in(own, ", runs_left = ?3, last_job = ?4"))
{
}

tick_outcome schedule_tick::tick(std::int64_t due, std::int64_t now)
{
    lock_.run();
    tick_outcome outcome;
    for (schedule_row& each : find_due(due)) {
        due_moments moments;
        try {
            moments = understood(each, due);
        } catch (const invalid_argument& refusal) {
            outcome.refusals.push_back({each.stored.name, kept_error_text(refusal.what())});
            continue;
        }
        fire(each, moments, now, outcome.fires);
    }
    return outcome;
}

std::vector<schedule_row> schedule_tick::find_due(std::int64_t due)
{
    std::vector<schedule_row> all;
    const auto read = [&](sqlite::statement& from) {
        sqlite::execution found = from.start(due);
        while (found.step()) {
            all.push_back(read_schedule(found));
        }
    };
    read(find_shared_);
    if (has_own_) {
        read(find_own_);
    }
    // Another program may have written a name into both.
    std::ranges::sort(
        all, {}, [](const schedule_row& each) { return std::tie(each.stored.name, each.table); });
    return all;
}

void schedule_tick::fire(schedule_row& row, const due_moments& moments, std::int64_t now,
                         std::vector<schedule_fire>& fires)
{
    schedule& firing = row.stored;
    jobs_.fire(firing, moments.firing, now, fires);
    firing.next_fire_at = firing.runs_left.value_or(1) > 0 ? moments.next : std::nullopt;
    advance(row);
}

void schedule_tick::advance(const schedule_row& row)
{
    const schedule& fired = row.stored;
    const int changed = row.table == shared ? advance_shared_.run(row.number, fired.next_fire_at)
                                            : advance_own_.run(row.number, fired.next_fire_at,
                                                               fired.runs_left, fired.last_job);
    if (changed == 0) {
        // Its jobs would be enqueued again and again.
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER,
                            "a trigger on " + name_of(row.table) + " ignores the next moment");
    }
}

} // namespace skein::store
