#include "store/queue/job_results.hpp"

#include "store/saturating.hpp"

namespace skein::store {

namespace {

std::string remove_chosen(const std::string& which)
{
    return "DELETE FROM _honker_results WHERE job_id IN (SELECT job_id FROM _honker_results " +
           which + ")";
}

} // namespace

job_results::job_results(sqlite::connection connection)
    : save_(connection, "INSERT INTO _honker_results (job_id, value, created_at, expires_at)"
                        " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (job_id) DO UPDATE"
                        " SET value = excluded.value, expires_at = excluded.expires_at"),
      get_(connection, "SELECT value, typeof(value) FROM _honker_results WHERE job_id = ?1"
                       " AND (expires_at IS NULL OR expires_at > ?2)"),
      sweep_(connection, remove_chosen("WHERE expires_at <= ?2 ORDER BY expires_at LIMIT ?1")),
      purge_(connection, remove_chosen("WHERE created_at < ?2 ORDER BY created_at LIMIT ?1")),
      keep_newest_(connection,
                   remove_chosen("ORDER BY created_at DESC, job_id DESC LIMIT ?1 OFFSET ?2"))
{
}

void job_results::save(std::int64_t job_id, std::string_view value, std::int64_t ttl,
                       std::int64_t now)
{
    std::optional<std::int64_t> expires_at;
    if (ttl > 0) {
        expires_at = saturating_add(now, ttl);
    }
    save_.run(job_id, value, now, expires_at);
}

std::optional<std::string> job_results::get(std::int64_t job_id, std::int64_t now)
{
    sqlite::execution found = get_.start(job_id, now);
    if (!found.step() || found.is_null(0)) {
        return std::nullopt;
    }
    if (found.text(1) != "text") {
        throw sqlite::error(SQLITE_MISMATCH, "Invalid column type " + std::string(found.text(1)) +
                                                 " of value in _honker_results");
    }
    return std::string(found.text(0));
}

std::int64_t job_results::sweep(std::int64_t most, std::int64_t now)
{
    return sweep_.run(most, now);
}

std::int64_t job_results::purge(std::int64_t saved_before, std::int64_t most)
{
    return purge_.run(most, saved_before);
}

std::int64_t job_results::keep_newest(std::int64_t kept, std::int64_t most)
{
    return keep_newest_.run(most, kept);
}

} // namespace skein::store
