#pragma once

#include "sqlite/statement.hpp"
#include "store/schedule/schedule.hpp"

#include <string>
#include <string_view>

namespace skein::store {

/// Which table a schedule stands in.
enum class schedule_table {
    shared, ///< `_honker_scheduler_tasks`, which every program ticks
    own,    ///< `_skein_schedules`
};

/// A schedule as it is stored.
struct schedule_row {
    std::int64_t number = 0; ///< its rowid
    schedule_table table = schedule_table::shared;
    schedule stored;
};

[[nodiscard]] std::string name_of(schedule_table table);

/// What is true of a moment that comes, as a condition on the column `next_fire_at`: another
/// program may have stored a text, or a number beyond every clock.
[[nodiscard]] std::string comes_at_all();

/// The first whole second at which a clock has reached `moment`, an expression that comes at all:
/// another program may have stored half a second.
[[nodiscard]] std::string whole_second(const std::string& moment);

/// The columns that `read_schedule` reads, for a SELECT.
[[nodiscard]] std::string schedule_columns(schedule_table table);

[[nodiscard]] schedule_row read_schedule(const sqlite::execution& found);

/// `schedule "<name>"`, as errors have it: cut, and without what would end their text early.
[[nodiscard]] std::string mention(std::string_view name);

/// The texts in the columns `missed` and `overlap`.
[[nodiscard]] std::string_view text_of(missed_moments missed);
[[nodiscard]] std::string_view text_of(overlap_policy overlap);

} // namespace skein::store
