#pragma once

#include <string>
#include <vector>

struct sqlite3;

namespace skein::support {

/// What the statements that are prepared on a connection cost, triggers included: SQLite's
/// virtual-machine steps, which are the same on every machine and in every run.
[[nodiscard]] long steps(sqlite3* connection);

/// Starts the count of every statement on the connection again at nothing.
void reset_steps(sqlite3* connection);

/// The steps that `work` takes on the connection.
template <class Function>
long steps_of(sqlite3* connection, Function&& work)
{
    reset_steps(connection);
    work();
    return steps(connection);
}

/// How SQLite runs each statement that is prepared on the connection: "<sql> => <detail>" per line
/// of EXPLAIN QUERY PLAN.
[[nodiscard]] std::vector<std::string> query_plans(sqlite3* connection);

} // namespace skein::support
