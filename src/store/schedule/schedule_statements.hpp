#pragma once

#include "store/schedule/schedule_rows.hpp"

#include <string>

namespace skein::store {

/// What is done to a table of schedules. The name is ?1 wherever there is one.
struct schedule_statements {
    std::string put; ///< the other columns follow in the order of `schedule`
    std::string remove;
    std::string find; ///< whether there is one
    std::string pause;
    std::string resume;
};

[[nodiscard]] schedule_statements statements_of(schedule_table table);

// The SELECTs below read both tables when the file has ours.

/// All schedules by name, or the one of a name, as `read_schedule` reads them. Where another
/// program has written the name into both tables, ours comes first.
[[nodiscard]] std::string select_all(bool has_own);
[[nodiscard]] std::string select_one(bool has_own);

/// The next moment of all that are enabled: of all moments, or of those after ?1. One row, NULL
/// when there is none.
[[nodiscard]] std::string select_soonest(bool has_own);
[[nodiscard]] std::string select_soonest_after(bool has_own);

/// How many are enabled, and have their next moment no later than ?1.
[[nodiscard]] std::string select_due_count(bool has_own);

} // namespace skein::store
