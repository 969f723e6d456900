#pragma once

#include "store/table_family.hpp"

#include <string>
#include <vector>

namespace skein::store {

/// Which of the table of schedules, and which of its newer columns, a file has.
struct present_schedules {
    bool has_table = false;
    bool has_enabled = false;
    bool has_max_attempts = false;
};

/// The table of schedules that all programs tick. Our additions: the one of schedules that only
/// skein understands, an index by time for each, and a trigger that keeps a name in one of the two.
[[nodiscard]] table_family schedule_tables();

/// Look at the file without writing. Throw `schema_too_new` when our additions in it are newer than
/// this program. A table that lacks a column counts as missing.
[[nodiscard]] present_schedules find_schedules(sqlite::connection connection);
[[nodiscard]] family_shape inspect_schedules(sqlite::connection connection);

/// The statements that make what `present` lacks, our additions included, in their order. They
/// belong into one write transaction; those that make something twice do nothing the second time,
/// the ones that add columns do not.
[[nodiscard]] std::vector<std::string>
completing_schedule_statements(const present_schedules& present);

/// Creates what is missing and upgrades older shapes; harmless when all is there. Runs inside the
/// caller's write transaction, so that of many processes that start together one does the work.
void create_schedules(sqlite::connection connection);

} // namespace skein::store
