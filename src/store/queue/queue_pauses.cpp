#include "store/queue/queue_pauses.hpp"

#include "store/queue/held_jobs_schema.hpp"

#include <string>

namespace skein::store {

namespace {

std::string hold(const std::string& state, const std::string& index, const std::string& order)
{
    return "INSERT INTO _skein_paused_jobs (id, queue, state, run_at)"
           " SELECT id, queue, state, run_at FROM _honker_live INDEXED BY " +
           index + " WHERE state = '" + state + "' AND queue = ?1 AND run_at < " +
           std::to_string(held_until) + " ORDER BY " + order + " LIMIT ?2";
}

} // namespace

queue_pauses::queue_pauses(sqlite::connection connection)
    : pause_(connection, "INSERT INTO _skein_paused_queues (queue) VALUES (?1)"
                         " ON CONFLICT DO NOTHING"),
      resume_(connection, "DELETE FROM _skein_paused_queues WHERE queue = ?1"),
      find_(connection, "SELECT 1 FROM _skein_paused_queues WHERE queue = ?1"),
      hold_pending_(connection, hold("pending", "_honker_live_ready", "priority DESC, run_at, id")),
      hold_scheduled_(connection, hold("scheduled", "_honker_live_scheduled", "run_at, id")),
      give_back_(connection, "DELETE FROM _skein_paused_jobs WHERE id IN (SELECT id FROM"
                             " _skein_paused_jobs WHERE queue = ?1 ORDER BY run_at, id LIMIT ?2)")
{
}

bool queue_pauses::pause(std::string_view queue)
{
    return pause_.run(queue) == 1;
}

bool queue_pauses::resume(std::string_view queue)
{
    return resume_.run(queue) == 1;
}

bool queue_pauses::is_paused(std::string_view queue)
{
    return find_.start(queue).step();
}

std::int64_t queue_pauses::move_slice(std::string_view queue, std::int64_t most)
{
    if (!is_paused(queue)) {
        return give_back_.run(queue, most);
    }
    const std::int64_t held = hold_pending_.run(queue, most);
    return held + hold_scheduled_.run(queue, most - held);
}

} // namespace skein::store
