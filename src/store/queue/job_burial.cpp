#include "store/queue/job_burial.hpp"

namespace skein::store {

std::string dead_letter_insert(int first)
{
    return "INSERT INTO _honker_dead (id, queue, payload, priority, run_at, attempts,"
           " max_attempts, last_error, created_at, died_at)"
           " SELECT id, queue, payload, priority, run_at, attempts, max_attempts, ?" +
           std::to_string(first) + ", created_at, ?" + std::to_string(first + 1) +
           " FROM _honker_live";
}

job_burial::job_burial(sqlite::connection connection)
    : room_(connection), insert_(connection, dead_letter_insert(2) + " WHERE id = ?1"),
      remove_(connection, "DELETE FROM _honker_live WHERE id = ?1")
{
}

void job_burial::bury(std::int64_t id, std::string_view error, std::int64_t now)
{
    room_.make(id);
    insert_.run(id, error, now);
    remove_.run(id);
}

} // namespace skein::store
