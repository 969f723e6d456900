#include "store/schedule/schedule_schema.hpp"

#include "sqlite/statement.hpp"

namespace skein::store {

namespace {

constexpr const char* add_enabled =
    "ALTER TABLE _honker_scheduler_tasks ADD COLUMN enabled INTEGER NOT NULL DEFAULT 1";
constexpr const char* add_max_attempts =
    "ALTER TABLE _honker_scheduler_tasks ADD COLUMN max_attempts INTEGER NOT NULL DEFAULT 3";

constexpr const char* create_shared =
    "CREATE TABLE IF NOT EXISTS _honker_scheduler_tasks"
    " (name TEXT PRIMARY KEY, queue TEXT NOT NULL, cron_expr TEXT NOT NULL,"
    " payload TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 0,"
    " expires_s INTEGER, next_fire_at INTEGER NOT NULL,"
    " enabled INTEGER NOT NULL DEFAULT 1,"
    " max_attempts INTEGER NOT NULL DEFAULT 3)";

constexpr const char* create_shared_index =
    "CREATE INDEX IF NOT EXISTS _skein_scheduler_tasks_by_time"
    " ON _honker_scheduler_tasks (next_fire_at) WHERE enabled";

// Without a next moment a schedule has come to its end.
constexpr const char* create_own =
    "CREATE TABLE IF NOT EXISTS _skein_schedules"
    " (name TEXT PRIMARY KEY, queue TEXT NOT NULL, cron_expr TEXT NOT NULL,"
    " payload TEXT NOT NULL, priority INTEGER NOT NULL, expires_s INTEGER,"
    " next_fire_at INTEGER, enabled INTEGER NOT NULL,"
    " max_attempts INTEGER NOT NULL, ends_at INTEGER, runs_left INTEGER,"
    " missed TEXT NOT NULL, grace_s INTEGER NOT NULL, overlap TEXT NOT NULL,"
    " last_job INTEGER)";

constexpr const char* create_own_index = "CREATE INDEX IF NOT EXISTS _skein_schedules_by_time"
                                         " ON _skein_schedules (next_fire_at) WHERE enabled";

// Another program that registers a name means the one schedule of it.
constexpr const char* create_replacement =
    "CREATE TRIGGER IF NOT EXISTS _skein_schedule_replaced"
    " AFTER INSERT ON _honker_scheduler_tasks BEGIN"
    " DELETE FROM _skein_schedules WHERE name = NEW.name; END";

} // namespace

table_family schedule_tables()
{
    return {.addition = "schedules",
            .version = 1,
            .format = {"_honker_scheduler_tasks"},
            .additions = {"_skein_scheduler_tasks_by_time", "_skein_schedules",
                          "_skein_schedules_by_time", "_skein_schedule_replaced"},
            .statements = {create_shared, create_shared_index, create_own, create_own_index,
                           create_replacement}};
}

present_schedules find_schedules(sqlite::connection connection)
{
    sqlite::statement read(connection, "SELECT count(*), ifnull(sum(name = 'enabled'), 0),"
                                       " ifnull(sum(name = 'max_attempts'), 0)"
                                       " FROM pragma_table_info('_honker_scheduler_tasks')");
    sqlite::execution found = read.start();
    found.step();
    return {found.integer(0) != 0, found.integer(1) != 0, found.integer(2) != 0};
}

family_shape inspect_schedules(sqlite::connection connection)
{
    const family_shape shape = inspect_family(connection, schedule_tables());
    const present_schedules present = find_schedules(connection);
    return present.has_enabled && present.has_max_attempts ? shape : family_shape::missing;
}

std::vector<std::string> completing_schedule_statements(const present_schedules& present)
{
    std::vector<std::string> all;
    if (present.has_table && !present.has_enabled) {
        all.emplace_back(add_enabled);
    }
    if (present.has_table && !present.has_max_attempts) {
        all.emplace_back(add_max_attempts);
    }
    for (std::string& each : completing_statements(schedule_tables())) {
        all.push_back(std::move(each));
    }
    return all;
}

void create_schedules(sqlite::connection connection)
{
    if (inspect_schedules(connection) == family_shape::complete) {
        return;
    }
    for (const std::string& each : completing_schedule_statements(find_schedules(connection))) {
        connection.execute(each);
    }
}

} // namespace skein::store
