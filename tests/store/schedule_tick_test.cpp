#include "store/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein::store;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ScheduleTick : public schedule_file {
protected:
    std::vector<std::string> jobs(const std::string& columns)
    {
        return file().sql("SELECT " + columns + " FROM _honker_live ORDER BY id");
    }

    std::vector<std::string> dead(const std::string& columns)
    {
        return file().sql("SELECT " + columns + " FROM _honker_dead ORDER BY id");
    }
};

TEST_F(ScheduleTick, EnqueuesAJobOfEachMomentOnce)
{
    add({.name = "a",
         .queue = "q",
         .expression = "@every 10s",
         .payload = " [1]",
         .priority = 3,
         .expires_in = 50,
         .max_attempts = 7},
        1000);
    EXPECT_THAT(tick(1009), IsEmpty());
    EXPECT_THAT(tick(1020, 5000),
                ElementsAre(schedule_fire{"a", "q", 1010, 1}, schedule_fire{"a", "q", 1020, 2}));
    const std::string job = "q| [1]|pending|3|5000|7|5000|5050|0";
    EXPECT_THAT(jobs("queue, payload, state, priority, run_at, max_attempts, created_at,"
                     " expires_at, attempts"),
                ElementsAre(job, job));
    EXPECT_THAT(tick(1020), IsEmpty());
    EXPECT_EQ(next_of("a"), 1030);
}

TEST_F(ScheduleTick, OrdersWhatItFiresByNameAndMoment)
{
    add_every("b", "5s");
    add_every("a", "7s");
    add({.name = "aa", .queue = "r", .expression = "CRON_TZ=UTC * * * * *", .payload = "1"}, 960);
    EXPECT_THAT(tick(1020),
                ElementsAre(schedule_fire{"a", "q", 1007, 1}, schedule_fire{"a", "q", 1014, 2},
                            schedule_fire{"aa", "r", 1020, 3}, schedule_fire{"b", "q", 1005, 4},
                            schedule_fire{"b", "q", 1010, 5}, schedule_fire{"b", "q", 1015, 6},
                            schedule_fire{"b", "q", 1020, 7}));
}

TEST_F(ScheduleTick, LeavesOutWhatIsMoreThanSixtyFourMomentsBehind)
{
    add_every("every", "1s");
    add({.name = "cron", .queue = "q", .expression = "* * * * *", .payload = "1"}, 1000);
    EXPECT_EQ(tick(1064).size(), 65U) << "and one at 1020";
    EXPECT_EQ(next_of("every"), 1065);
    EXPECT_EQ(tick(100'000).size(), 128U);
    EXPECT_EQ(next_of("every"), 100'001);
    EXPECT_EQ(next_of("cron"), 100'020);
    EXPECT_EQ(file().value("SELECT count(*) FROM _honker_live"), "193");
}

TEST_F(ScheduleTick, LeavesPausedSchedulesAndCatchesUpWhenTheyAreResumed)
{
    add_every("a", "10s");
    tables_.write([&] { schedules_.pause("a"); });
    EXPECT_THAT(tick(1035), IsEmpty());
    tables_.write([&] { schedules_.resume("a"); });
    EXPECT_THAT(fired(1035), ElementsAre(1010, 1020, 1030));
}

TEST_F(ScheduleTick, OfTwoEachMomentIsEnqueuedOnce)
{
    const skein::support::plain_connection file(directory_ / "test.db");
    schedule_tick other(skein::sqlite::connection(file.handle()), family_shape::complete);
    add_every("a", "1s");
    std::vector<std::int64_t> moments;
    for (std::int64_t due = 1001; due <= 1040; ++due) {
        for (const std::int64_t each : fired(due)) {
            moments.push_back(each);
        }
        for (const schedule_fire& each : skein::support::in_write_transaction(
                 file, [&] { return other.tick(due + due % 3, due).fires; })) {
            moments.push_back(each.fire_at);
        }
    }
    std::vector<std::int64_t> expected;
    for (std::int64_t each = 1001; each <= next_of("a").value() - 1; ++each) {
        expected.push_back(each);
    }
    EXPECT_EQ(moments, expected);
}

TEST_F(ScheduleTick, TakesTheWriteLockFirstAndWritesNothingWhenNothingIsDue)
{
    add_every("a", "10s");
    const skein::support::plain_connection other(directory_ / "test.db");
    const std::string before = other.value("PRAGMA data_version");
    EXPECT_THAT(tick(1009), IsEmpty());
    EXPECT_EQ(other.value("PRAGMA data_version"), before);
    other.sql("PRAGMA busy_timeout = 0");
    file().sql("BEGIN");
    EXPECT_THAT(ticker_.tick(1009, 1009).fires, IsEmpty());
    EXPECT_THROW(other.sql("BEGIN IMMEDIATE"), std::runtime_error);
    file().sql("ROLLBACK");
}

TEST_F(ScheduleTick, MakesDeadLettersOfAPayloadThatIsNoJson)
{
    add_every("good", "10s");
    file().sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, priority,"
               " next_fire_at, max_attempts, expires_s) VALUES"
               " ('bad', 'r', '@every 10s', 'no json', 4, 1010, 9, 5)");
    EXPECT_EQ(fired(1025).size(), 2U);
    EXPECT_THAT(
        dead("id, queue, payload, priority, run_at, attempts, max_attempts, created_at,"
             " died_at"),
        ElementsAre("1|r|no json|4|1010|0|9|1025|1025", "2|r|no json|4|1020|0|9|1025|1025"));
    EXPECT_THAT(dead("last_error"),
                testing::Each(AllOf(HasSubstr("schedule \"bad\""), HasSubstr("valid JSON"),
                                    HasSubstr("honker_scheduler_update"))));
    EXPECT_THAT(jobs("id, queue"), ElementsAre("3|q", "4|q"));
    EXPECT_EQ(next_of("bad"), 1030);
    EXPECT_EQ(tick(1'000'000).size(), 64U);
    EXPECT_EQ(dead("1").size(), 66U) << "the same number at most";
}

TEST_F(ScheduleTick, NeitherEnqueuesNorAdvancesWhenAJobIsRefused)
{
    add_every("a", "10s");
    add_every("b", "10s");
    file().sql(
        "CREATE TRIGGER t BEFORE INSERT ON _honker_live"
        " WHEN (SELECT count(*) FROM _honker_live) = 1 BEGIN SELECT RAISE(ABORT, 'no'); END");
    EXPECT_THROW(tick(1010), skein::sqlite::error);
    EXPECT_THAT(jobs("id"), IsEmpty());
    EXPECT_EQ(next_of("a"), 1010);
    file().sql("DROP TRIGGER t");
    EXPECT_EQ(tick(1010).size(), 2U);
}

TEST_F(ScheduleTick, FailsWhereATriggerIgnoresTheNextMoment)
{
    add_every("a", "10s");
    for (const std::string condition :
         {"", " WHEN NEW.next_fire_at <> OLD.next_fire_at", " WHEN NEW.next_fire_at > 1010"}) {
        file().sql("CREATE TRIGGER t BEFORE UPDATE ON _honker_scheduler_tasks" + condition +
                   " BEGIN SELECT RAISE(IGNORE); END");
        EXPECT_THROW(tick(1010), skein::sqlite::error) << condition;
        EXPECT_THAT(jobs("id"), IsEmpty());
        file().sql("DROP TRIGGER t");
    }
}

TEST_F(ScheduleTick, ChangesARowOnce)
{
    add_every("a", "10s");
    file().sql("CREATE TABLE changes (next); CREATE TRIGGER t AFTER UPDATE ON"
               " _honker_scheduler_tasks BEGIN INSERT INTO changes VALUES (NEW.next_fire_at); END");
    EXPECT_EQ(tick(1010).size(), 1U);
    EXPECT_THAT(file().sql("SELECT next FROM changes"), ElementsAre("1020"));
}

TEST_F(ScheduleTick, FiresNoMomentAgainWhenTheClockIsSetBack)
{
    add_every("a", "10s");
    EXPECT_THAT(fired(1015), ElementsAre(1010));
    EXPECT_THAT(fired(500), IsEmpty());
    EXPECT_THAT(fired(1010), IsEmpty());
    EXPECT_EQ(next_of("a"), 1020);
    EXPECT_THAT(fired(1020), ElementsAre(1020));
}

TEST_F(ScheduleTick, ToleratesWhatAnotherProgramHasStored)
{
    file().sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, next_fire_at,"
               " enabled) VALUES (NULL, 'q', ' 5/15  * * * * ', '1', 300, 1),"
               " ('later', 'q', '* * * * *', '1', 'never', 1),"
               " ('paused', 'q', 'nonsense', 'no json', 0, 0),"
               " ('old', 'q', '@every 1d', '1', -9223372036854775808, 2)");
    EXPECT_EQ(tick(1000).size(), 65U);
    EXPECT_THAT(file().sql("SELECT next_fire_at FROM _honker_scheduler_tasks"),
                ElementsAre("3900", "never", "0", "87400"));
}

TEST_F(ScheduleTick, OfAPlainFileTicksTheSharedTable)
{
    add_every("a", "10s");
    file().sql("DROP TABLE _skein_schedules");
    file().sql("DROP TRIGGER _skein_schedule_replaced");
    schedule_tick plain(tables_.connection(), inspect_schedules(tables_.connection()));
    EXPECT_EQ(tables_.write([&] { return plain.tick(1010, 1010).fires.size(); }), 1U);
}

} // namespace
