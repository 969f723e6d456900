#pragma once

#include "sqlite/statement.hpp"
#include "store/schedule/schedule.hpp"

#include <string>

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

/// The columns that `read_schedule` reads, for a SELECT or behind RETURNING.
[[nodiscard]] std::string schedule_columns(schedule_table table);

[[nodiscard]] schedule_row read_schedule(const sqlite::execution& found);

/// The texts in the columns `missed` and `overlap`.
[[nodiscard]] std::string_view text_of(missed_moments missed);
[[nodiscard]] std::string_view text_of(overlap_policy overlap);

} // namespace skein::store
