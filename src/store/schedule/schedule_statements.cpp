#include "store/schedule/schedule_statements.hpp"

namespace skein::store {

namespace {

constexpr schedule_table shared = schedule_table::shared;
constexpr schedule_table own = schedule_table::own;

std::string put_into(schedule_table table)
{
    std::string columns =
        "name, queue, cron_expr, payload, priority, expires_s, max_attempts, enabled, next_fire_at";
    std::string values = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9";
    std::string changes =
        "queue = excluded.queue, cron_expr = excluded.cron_expr, payload = excluded.payload,"
        " priority = excluded.priority, expires_s = excluded.expires_s,"
        " max_attempts = excluded.max_attempts, enabled = excluded.enabled,"
        " next_fire_at = excluded.next_fire_at";
    if (table == own) {
        columns += ", ends_at, runs_left, missed, grace_s, overlap, last_job";
        values += ", ?10, ?11, ?12, ?13, ?14, ?15";
        changes += ", ends_at = excluded.ends_at, runs_left = excluded.runs_left,"
                   " missed = excluded.missed, grace_s = excluded.grace_s,"
                   " overlap = excluded.overlap, last_job = excluded.last_job";
    }
    return "INSERT INTO " + name_of(table) + " (" + columns + ") VALUES (" + values +
           ") ON CONFLICT (name) DO UPDATE SET " + changes;
}

std::string select(schedule_table table, const std::string& condition)
{
    return "SELECT " + schedule_columns(table) + " FROM " + name_of(table) + condition;
}

std::string soonest_of(bool has_own, const std::string& condition)
{
    const auto soonest_in = [&](schedule_table table) {
        return "SELECT min(next_fire_at) AS moment FROM " + name_of(table) + " WHERE enabled AND " +
               comes_at_all() + condition;
    };
    const std::string moments =
        soonest_in(shared) + (has_own ? " UNION ALL " + soonest_in(own) : "");
    return "SELECT " + whole_second("min(moment)") + " FROM (" + moments + ")";
}

} // namespace

schedule_statements statements_of(schedule_table table)
{
    const std::string name = name_of(table);
    return {.put = put_into(table),
            .remove = "DELETE FROM " + name + " WHERE name = ?1",
            .find = "SELECT 1 FROM " + name + " WHERE name = ?1",
            .pause = "UPDATE " + name + " SET enabled = 0 WHERE name = ?1 AND enabled",
            .resume = "UPDATE " + name + " SET enabled = 1 WHERE name = ?1 AND NOT enabled"};
}

std::string select_all(bool has_own)
{
    return (has_own ? select(own, "") + " UNION ALL " : "") + select(shared, "") + " ORDER BY name";
}

std::string select_one(bool has_own)
{
    const std::string by_name = " WHERE name = ?1";
    return (has_own ? select(own, by_name) + " UNION ALL " : "") + select(shared, by_name);
}

std::string select_soonest(bool has_own)
{
    return soonest_of(has_own, "");
}

std::string select_soonest_after(bool has_own)
{
    return soonest_of(has_own, " AND next_fire_at > ?1");
}

std::string select_due_count(bool has_own)
{
    const auto count_in = [](schedule_table table) {
        return "(SELECT count(*) FROM " + name_of(table) + " WHERE enabled AND next_fire_at <= ?1)";
    };
    return "SELECT " + count_in(shared) + (has_own ? " + " + count_in(own) : "");
}

} // namespace skein::store
