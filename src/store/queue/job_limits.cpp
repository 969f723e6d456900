#include "store/queue/job_limits.hpp"

#include "store/error.hpp"
#include "store/queue/held_jobs_schema.hpp"

#include <string>

namespace skein::store {

void require_limit(const job_limit& limit)
{
    if (limit.most < 1) {
        throw invalid_argument("concurrency limit must be at least 1, got " +
                               std::to_string(limit.most));
    }
}

// A pause may hold the job already: what it was before that counts.
job_limits::job_limits(sqlite::connection connection)
    : set_(connection, "INSERT INTO _skein_job_limits (queue, key, most) VALUES (?1, ?2, ?3)"
                       " ON CONFLICT (queue, key) DO UPDATE SET most = excluded.most"
                       " WHERE most <> excluded.most"),
      add_(connection, "INSERT INTO _skein_limited_jobs (id, queue, key, place, priority, run_at)"
                       " SELECT live.id, live.queue, ?2,"
                       " iif(coalesce(paused.state, live.state) = 'pending', 3, 0), live.priority,"
                       " coalesce(paused.run_at, live.run_at) FROM _honker_live AS live"
                       " LEFT JOIN _skein_paused_jobs AS paused ON paused.id = live.id"
                       " WHERE live.id = ?1"),
      set_again_(connection, "INSERT INTO _skein_job_limits (queue, key, most) VALUES (?1, ?2, ?3)"
                             " ON CONFLICT (queue, key) DO NOTHING"),
      find_letter_(connection, "SELECT key, most FROM _skein_limited_letters WHERE id = ?1")
{
}

void job_limits::limit(std::string_view queue, std::int64_t id, const job_limit& limit)
{
    set_.run(queue, limit.key, limit.most);
    add_.run(id, limit.key);
}

void job_limits::limit_again(std::string_view queue, std::int64_t id, std::int64_t letter)
{
    sqlite::execution found = find_letter_.start(letter);
    if (found.step()) {
        set_again_.run(queue, found.text(0), found.integer(1));
        add_.run(id, found.text(0));
    }
}

} // namespace skein::store
