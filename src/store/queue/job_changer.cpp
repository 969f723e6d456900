#include "store/queue/job_changer.hpp"

#include "store/json_text.hpp"
#include "store/queue/held_jobs_schema.hpp"
#include "store/saturating.hpp"

#include <string>

namespace skein::store {

namespace {

constexpr const char* that_waits =
    " WHERE id = ?1 AND queue = ?2 AND state IN ('pending', 'scheduled')";

} // namespace

void require_change(const job_change& wanted)
{
    if (wanted.payload) {
        require_json(*wanted.payload);
    }
}

// When it is due is left alone where it stays: that a job is held is written there, and to write it
// again would decide about that again.
job_changer::job_changer(sqlite::connection connection)
    : change_(connection, std::string("UPDATE _honker_live SET payload = coalesce(?3, payload),"
                                      " priority = coalesce(?4, priority)") +
                              that_waits),
      make_due_(connection, std::string("UPDATE _honker_live SET run_at = ?3,"
                                        " state = iif(?3 > ?4, 'scheduled', 'pending')") +
                                that_waits)
{
}

bool job_changer::change(std::string_view queue, std::int64_t id, const job_change& wanted,
                         std::int64_t now)
{
    const bool waits = change_.run(id, queue, wanted.payload, wanted.priority) == 1;
    return waits && (!(wanted.run_at || wanted.delay) || make_due(queue, id, wanted, now));
}

bool job_changer::make_due(std::string_view queue, std::int64_t id, const job_change& wanted,
                           std::int64_t now)
{
    const std::int64_t due =
        wanted.delay ? saturating_add(now, *wanted.delay) : wanted.run_at.value_or(now);
    return make_due_.run(id, queue, due_unheld(due), now) == 1;
}

} // namespace skein::store
