#include "store/error.hpp"
#include "store/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein::store;
using testing::ElementsAre;

class ScheduleSchema : public testing::Test {
protected:
    void create()
    {
        skein::support::in_write_transaction(file_, [&] {
            create_schedules(connection_);
            return true;
        });
    }

    [[nodiscard]] family_shape shape() const { return inspect_schedules(connection_); }

    skein::support::temporary_directory directory_;
    skein::support::plain_connection file_{directory_ / "test.db"};
    skein::sqlite::connection connection_{file_.handle()};
};

constexpr const char* oldest = "CREATE TABLE _honker_scheduler_tasks (name TEXT PRIMARY KEY,"
                               " queue TEXT NOT NULL, cron_expr TEXT NOT NULL,"
                               " payload TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 0,"
                               " expires_s INTEGER, next_fire_at INTEGER NOT NULL)";

TEST_F(ScheduleSchema, IsMadeInAnEmptyFile)
{
    EXPECT_EQ(shape(), family_shape::missing);
    create();
    EXPECT_EQ(shape(), family_shape::complete);
    const std::string version = file_.value("PRAGMA schema_version");
    create();
    EXPECT_EQ(file_.value("PRAGMA schema_version"), version);
}

TEST_F(ScheduleSchema, UpgradesATableThatKnewNeitherPausesNorAttempts)
{
    file_.sql(oldest);
    file_.sql(
        "INSERT INTO _honker_scheduler_tasks VALUES ('a', 'q', '* * * * *', '1', 0, NULL, 60)");
    EXPECT_EQ(shape(), family_shape::missing);
    create();
    EXPECT_EQ(shape(), family_shape::complete);
    EXPECT_THAT(file_.sql("SELECT name, enabled, max_attempts FROM _honker_scheduler_tasks"),
                ElementsAre("a|1|3"));
}

TEST_F(ScheduleSchema, UpgradesATableThatKnewNoAttempts)
{
    file_.sql(oldest);
    file_.sql("ALTER TABLE _honker_scheduler_tasks ADD COLUMN enabled INTEGER NOT NULL DEFAULT 1");
    EXPECT_EQ(shape(), family_shape::missing);
    create();
    EXPECT_EQ(shape(), family_shape::complete);
}

TEST_F(ScheduleSchema, OfANewerSkeinIsRefused)
{
    create();
    file_.sql("UPDATE _skein_meta SET version = 2");
    EXPECT_THROW(static_cast<void>(shape()), schema_too_new);
    EXPECT_THROW(create(), schema_too_new);
}

} // namespace
