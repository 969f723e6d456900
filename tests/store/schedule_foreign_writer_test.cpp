#include "store/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

/// What other programs, triggers and people with a shell do to the tables of schedules.
class ScheduleForeignWriter : public schedule_file {
protected:
    void store(const std::string& name, const std::string& next)
    {
        file().sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload,"
                   " next_fire_at) VALUES ('" +
                   name + "', 'q', '@every 10s', '1', " + next + ")");
    }

    void add_own(std::string_view name)
    {
        add({.name = name,
             .queue = "q",
             .expression = "@every 10s",
             .payload = "1",
             .missed = missed_moments::once},
            1000);
    }

    std::vector<std::string> names(const std::string& table)
    {
        return file().sql("SELECT name FROM " + table);
    }

    std::vector<std::string> shared() { return names("_honker_scheduler_tasks"); }
    std::vector<std::string> own() { return names("_skein_schedules"); }

    void ignore(const std::string& change, const std::string& table)
    {
        file().sql("DROP TRIGGER IF EXISTS t; CREATE TRIGGER t BEFORE " + change + " ON " + table +
                   " BEGIN SELECT RAISE(IGNORE); END");
    }
};

TEST_F(ScheduleForeignWriter, StoresHalfASecondWhichIsOverAtTheNextOne)
{
    store("a", "1010.5");
    EXPECT_EQ(next_of("a"), 1011);
    EXPECT_EQ(schedules_.soonest(), 1011);
    EXPECT_EQ(schedules_.soonest_after(1010), 1011);
    EXPECT_EQ(schedules_.soonest_after(1011), std::nullopt);
    EXPECT_EQ(schedules_.count_due(1010), 0);
    EXPECT_EQ(schedules_.count_due(1011), 1);
    EXPECT_THAT(fired(1010), IsEmpty());
    EXPECT_THAT(fired(1011), ElementsAre(1011)) << "else a loop that waits for it would spin";
    EXPECT_EQ(next_of("a"), 1021);
}

TEST_F(ScheduleForeignWriter, StoresMomentsThatNeverCome)
{
    for (const std::string each : {"'never'", "x'00'", "9e999", "9.3e18"}) {
        store("a", each);
        EXPECT_EQ(schedules_.soonest(), std::nullopt) << each;
        EXPECT_EQ(schedules_.soonest_after(0), std::nullopt) << each;
        EXPECT_EQ(schedules_.count_due(9'000'000'000'000'000'000), 0) << each;
        EXPECT_EQ(next_of("a"), std::nullopt) << each;
        EXPECT_THAT(fired(9'000'000'000'000'000'000), IsEmpty()) << each;
        tables_.write([&] { schedules_.update("a", {.payload = "2"}, 1000); });
        EXPECT_EQ(next_of("a"), std::nullopt) << each << ", still";
        tables_.write([&] { schedules_.update("a", {.expression = "@every 5s"}, 1000); });
        EXPECT_EQ(next_of("a"), 1005) << each;
        tables_.write([&] { schedules_.unregister("a"); });
    }
}

TEST_F(ScheduleForeignWriter, StoresMomentsOfLongAgo)
{
    for (const std::string each : {"-62135596800", "-9223372036854775808", "-1e300", "0"}) {
        store("a", each);
        EXPECT_EQ(tick(1'000'000'000).size(), 64U) << each;
        EXPECT_EQ(next_of("a"), 1'000'000'010) << each;
        tables_.write([&] { schedules_.unregister("a"); });
    }
    for (const auto missed : {missed_moments::all, missed_moments::skip, missed_moments::once}) {
        for (const std::string each : {"-62135596800", "-9223372036854775808"}) {
            add({.name = "a",
                 .queue = "q",
                 .expression = "@every 1s",
                 .payload = "1",
                 .ends_at = 2'000'000'000,
                 .missed = missed},
                1000);
            file().sql("UPDATE _skein_schedules SET next_fire_at = " + each);
            const std::size_t count = tick(1'000'000'000).size();
            EXPECT_EQ(count, missed == missed_moments::all    ? 64U
                             : missed == missed_moments::skip ? 61U
                                                              : 1U);
            EXPECT_EQ(next_of("a"), 1'000'000'001) << each;
        }
    }
}

TEST_F(ScheduleForeignWriter, StoresTheLastMomentOfAll)
{
    store("a", "9223372036854775807");
    EXPECT_EQ(schedules_.soonest(), 9223372036854775807);
    EXPECT_EQ(schedules_.soonest_after(9223372036854775806), 9223372036854775807);
    EXPECT_EQ(schedules_.soonest_after(9223372036854775807), std::nullopt);
    EXPECT_EQ(serve(9223372036854775807).refusals.size(), 1U) << "it has no further one";
}

TEST_F(ScheduleForeignWriter, ReplacesOursWithEveryFormOfInsert)
{
    for (const std::string verb : {"INSERT", "REPLACE", "INSERT OR IGNORE"}) {
        add_own("a");
        file().sql(verb +
                   " INTO _honker_scheduler_tasks (name, queue, cron_expr, payload,"
                   " next_fire_at) VALUES ('a', 'other', '@every 10s', '2', 60)" +
                   (verb == "INSERT" ? " ON CONFLICT (name) DO UPDATE SET queue = 'third'" : ""));
        EXPECT_THAT(own(), IsEmpty()) << verb;
        EXPECT_EQ(schedules_.find("a")->queue, "other") << verb;
    }
}

TEST_F(ScheduleForeignWriter, LeavesANameInBothTablesUntilItIsRegisteredAgain)
{
    add_every("a", "10s");
    file().sql("INSERT INTO _skein_schedules (name, queue, cron_expr, payload, priority,"
               " next_fire_at, enabled, max_attempts, missed, grace_s, overlap)"
               " VALUES ('a', 'r', '@every 10s', '2', 0, 1010, 1, 3, 'once', 60, 'allow')");
    EXPECT_THAT(tick(1010),
                ElementsAre(schedule_fire{"a", "q", 1010, 1}, schedule_fire{"a", "r", 1010, 2}));
    EXPECT_EQ(schedules_.list().size(), 2U);
    EXPECT_EQ(schedules_.find("a")->queue, "r");
    EXPECT_TRUE(tables_.write([&] { return schedules_.pause("a"); }));
    EXPECT_THAT(tick(1020), IsEmpty()) << "both are paused";
    EXPECT_TRUE(tables_.write([&] { return schedules_.update("a", {.priority = 1}, 1020); }));
    EXPECT_THAT(shared(), IsEmpty());
    add_every("a", "10s");
    EXPECT_THAT(own(), IsEmpty());
    EXPECT_EQ(shared().size(), 1U);
}

TEST_F(ScheduleForeignWriter, CannotMakeUsBelieveInWhatATriggerIgnores)
{
    const auto move = [&] { add_own("a"); };
    const auto move_back = [&] { add_every("a", "10s"); };
    ignore("INSERT", "_honker_scheduler_tasks");
    EXPECT_THROW(move_back(), skein::sqlite::error);
    ignore("INSERT", "_skein_schedules");
    EXPECT_THROW(move(), skein::sqlite::error);
    file().sql("DROP TRIGGER t");
    move_back();
    ignore("UPDATE", "_honker_scheduler_tasks");
    EXPECT_THROW(move_back(), skein::sqlite::error);
    ignore("DELETE", "_honker_scheduler_tasks");
    EXPECT_THROW(move(), skein::sqlite::error) << "it would fire twice";
    EXPECT_THROW(tables_.write([&] { schedules_.unregister("a"); }), skein::sqlite::error);
    EXPECT_THAT(own(), IsEmpty());
    file().sql("DROP TRIGGER t");
    move();
    ignore("DELETE", "_skein_schedules");
    EXPECT_THROW(move_back(), skein::sqlite::error);
    EXPECT_THAT(shared(), IsEmpty());
}

TEST_F(ScheduleForeignWriter, StoresNamesAndQueuesOfEveryKind)
{
    const std::string nul("a\0b", 3);
    const std::string huge(2'000'000, 'x');
    for (const std::string& name : {std::string(), nul, huge, std::string("\xFF")}) {
        for (const std::optional<std::int64_t> runs :
             {std::optional<std::int64_t>(), std::optional<std::int64_t>(5)}) {
            add({.name = name,
                 .queue = "",
                 .expression = "@every 10s",
                 .payload = "1",
                 .runs = runs},
                1000);
            const std::vector<schedule_fire> fires = tick(1010);
            ASSERT_EQ(fires.size(), 1U);
            EXPECT_EQ(fires.front().name, name);
            EXPECT_EQ(fires.front().queue, "");
            EXPECT_EQ(next_of(name), 1020);
            EXPECT_EQ(schedules_.list().size(), 1U);
            EXPECT_TRUE(tables_.write([&] { return schedules_.pause(name); }));
            EXPECT_TRUE(tables_.write([&] { return schedules_.resume(name); }));
        }
        EXPECT_EQ(next_of("a"), std::nullopt) << "another name";
        EXPECT_TRUE(tables_.write([&] { return schedules_.unregister(name); }));
    }
}

} // namespace
