#include "store/queue/held_jobs.hpp"

namespace skein::store {

held_jobs::held_jobs(sqlite::connection connection)
    : find_tables_(connection, "SELECT 1 FROM sqlite_schema WHERE name = '_skein_limited_jobs'"),
      due_time_(connection, "SELECT run_at FROM _skein_paused_jobs WHERE id = ?1 UNION ALL"
                            " SELECT run_at FROM _skein_limited_jobs WHERE id = ?1 AND place = 2"),
      find_paused_(connection, "SELECT 1 FROM _skein_paused_queues WHERE queue = ?1")
{
}

std::optional<std::int64_t> held_jobs::due_time(std::int64_t id)
{
    if (!has_tables()) {
        return std::nullopt;
    }
    sqlite::execution found = due_time_.start(id);
    return found.step() ? std::optional(found.integer(0)) : std::nullopt;
}

bool held_jobs::is_paused(std::string_view queue)
{
    return has_tables() && find_paused_.start(queue).step();
}

bool held_jobs::has_tables()
{
    return find_tables_.start().step();
}

} // namespace skein::store
