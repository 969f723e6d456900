#include "store/queue/unique_jobs.hpp"

#include "store/error.hpp"
#include "store/saturating.hpp"

#include <string>

namespace skein::store {

namespace {

// Twice what one enqueue can add: what has ended does not pile up.
const std::string first_ended = " WHERE (queue, key) IN (SELECT queue, key FROM _skein_unique_jobs"
                                " WHERE ends_at <= ?1 ORDER BY ends_at LIMIT 2)";

constexpr const char* is_live =
    "EXISTS (SELECT 1 FROM _honker_live WHERE id = _skein_unique_jobs.id)";

} // namespace

void require_unique_key(const unique_key& wanted)
{
    if (wanted.period && *wanted.period < 1) {
        throw invalid_argument("unique period must be at least 1 s, got " +
                               std::to_string(*wanted.period) + " s");
    }
}

unique_jobs::unique_jobs(sqlite::connection connection)
    : find_holder_(connection, "SELECT id FROM _skein_unique_jobs WHERE queue = ?1 AND key = ?2"
                               " AND (ends_at > ?3 OR EXISTS (SELECT 1 FROM _honker_live AS live"
                               " WHERE live.id = _skein_unique_jobs.id AND live.queue = ?1"
                               " AND (live.state IN ('pending', 'scheduled')"
                               " OR (while_running AND live.state = 'processing'))))"),
      take_(connection, "INSERT INTO _skein_unique_jobs (queue, key, id, while_running, ends_at)"
                        " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (queue, key) DO UPDATE SET"
                        " id = excluded.id, while_running = excluded.while_running,"
                        " ends_at = excluded.ends_at"),
      let_live_(connection,
                "UPDATE _skein_unique_jobs SET ends_at = NULL" + first_ended + " AND " + is_live),
      forget_(connection, "DELETE FROM _skein_unique_jobs" + first_ended + " AND NOT " + is_live)
{
}

std::optional<std::int64_t> unique_jobs::holder(std::string_view queue, std::string_view key,
                                                std::int64_t now)
{
    sqlite::execution found = find_holder_.start(queue, key, now);
    return found.step() ? std::optional(found.integer(0)) : std::nullopt;
}

void unique_jobs::take(std::string_view queue, std::int64_t id, const unique_key& wanted,
                       std::int64_t now)
{
    std::optional<std::int64_t> ends_at;
    if (wanted.period) {
        ends_at = saturating_add(now, *wanted.period);
        forget_ended(now);
    }
    take_.run(queue, wanted.key, id, wanted.while_running ? 1 : 0, ends_at);
}

/// Of jobs that are there still, only the period has ended: they take their rows with them.
void unique_jobs::forget_ended(std::int64_t now)
{
    forget_.run(now);
    let_live_.run(now);
}

} // namespace skein::store
