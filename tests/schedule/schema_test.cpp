#include "schedule/schedule_fixture.hpp"

#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;

/// What a file holds, as SQL.
std::vector<std::string> schema_of(const support::plain_connection& file)
{
    return file.sql("SELECT type, name, sql FROM sqlite_master WHERE tbl_name LIKE '%schedule%'"
                    " ORDER BY name");
}

class ScheduleSchema : public support::schedule_fixture {
protected:
    /// The oldest table, as an older program has made it, with a schedule in it.
    static constexpr const char* oldest =
        "CREATE TABLE _honker_scheduler_tasks (name TEXT PRIMARY KEY, queue TEXT NOT NULL,"
        " cron_expr TEXT NOT NULL, payload TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 0,"
        " expires_s INTEGER, next_fire_at INTEGER NOT NULL);"
        "INSERT INTO _honker_scheduler_tasks VALUES ('s', 'q', '@every10s', 'null', 0, NULL, 110)";

    support::manual_database empty_;
    support::plain_connection file_{empty_.path()};
    scheduler there_ = empty_.database().scheduler();
};

TEST_F(ScheduleSchema, IsWhatTheFirstUseMakes)
{
    for (const std::string& each : schema::schedules()) {
        file_.sql(each);
    }
    EXPECT_EQ(schema_of(file_), schema_of(other_));
}

TEST_F(ScheduleSchema, IsUpgradedByTheFirstUse)
{
    file_.sql(oldest);
    empty_.run(there_.add("t", "q", "CRON_TZ=UTC * * * * *", "null"));
    EXPECT_EQ(empty_.run(there_.list()).size(), 2U);
    const auto running = empty_.start(there_.run());
    empty_.settle();
    empty_.advance(10s);
    EXPECT_EQ(file_.value("SELECT count(*) FROM _honker_live"), "1");
}

TEST_F(ScheduleSchema, IsUpgradedByItsOwner)
{
    file_.sql(oldest);
    for (const std::string& each :
         schema::schedules_upgrade(schema::schedule_version::without_enabled)) {
        file_.sql(each);
    }
    const scheduler theirs = empty_.database().scheduler({.create_schema = false});
    empty_.run(theirs.add("t", "q", "CRON_TZ=UTC * * * * *", "null"));
    EXPECT_EQ(empty_.run(theirs.list()).size(), 2U);
    EXPECT_EQ(empty_.run(theirs.find("s"))->max_attempts, 3);
}

TEST_F(ScheduleSchema, IsUpgradedFromEachShape)
{
    file_.sql(oldest);
    file_.sql("ALTER TABLE _honker_scheduler_tasks ADD COLUMN enabled INTEGER NOT NULL DEFAULT 1");
    for (const std::string& each :
         schema::schedules_upgrade(schema::schedule_version::without_max_attempts)) {
        file_.sql(each);
    }
    for (const std::string& each :
         schema::schedules_upgrade(schema::schedule_version::without_additions)) {
        file_.sql(each); // harmless where all is there
    }
    EXPECT_EQ(empty_.run(there_.find("s"))->max_attempts, 3);
    EXPECT_THROW(
        static_cast<void>(schema::schedules_upgrade(static_cast<schema::schedule_version>(9))),
        error);
}

TEST_F(ScheduleSchema, ServesThePlainTableWithoutAdditions)
{
    file_.sql(oldest);
    file_.sql("ALTER TABLE _honker_scheduler_tasks ADD COLUMN enabled INTEGER NOT NULL DEFAULT 1;"
              "ALTER TABLE _honker_scheduler_tasks"
              " ADD COLUMN max_attempts INTEGER NOT NULL DEFAULT 3");
    for (const std::string& each : schema::queue()) {
        file_.sql(each);
    }
    const scheduler theirs = empty_.database().scheduler({.create_schema = false});
    const auto running = empty_.start(theirs.run());
    empty_.settle();
    empty_.advance(10s);
    EXPECT_EQ(file_.value("SELECT count(*) FROM _honker_live"), "1");
    EXPECT_THAT(support::refusal_of(
                    [&] { empty_.run(theirs.add("t", "q", "CRON_TZ=UTC * * * * *", "null")); }),
                ::testing::HasSubstr("_skein_schedules"));
}

} // namespace
