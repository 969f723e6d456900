#include "store/error.hpp"
#include "store/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using seconds = std::optional<std::int64_t>;

/// Schedules of every 10 seconds, registered at 1000.
class ScheduleUpdate : public schedule_file {
protected:
    void add_ending(const std::string& name, seconds ends_at, seconds runs = std::nullopt)
    {
        add({.name = name,
             .queue = "q",
             .expression = "@every 10s",
             .payload = "1",
             .ends_at = ends_at,
             .runs = runs},
            1000);
    }

    bool update(const schedule_change& change, std::int64_t now = 1000)
    {
        return tables_.write([&] { return schedules_.update("a", change, now); });
    }

    std::string refusal(const schedule_change& change, std::int64_t now = 1000)
    {
        const std::optional<schedule> before = schedules_.find("a");
        try {
            update(change, now);
            return "accepted";
        } catch (const invalid_argument& error) {
            EXPECT_EQ(schedules_.find("a"), before);
            return error.what();
        }
    }

    /// The table that it stands in.
    std::string table()
    {
        return file().value("SELECT group_concat(t) FROM ("
                            "SELECT 'shared' AS t FROM _honker_scheduler_tasks WHERE name = 'a'"
                            " UNION ALL SELECT 'own' FROM _skein_schedules WHERE name = 'a')");
    }
};

TEST_F(ScheduleUpdate, MovesItToTheTableThatCanHoldIt)
{
    add_every("a", "10s");
    tables_.write([&] { schedules_.pause("a"); });
    schedule expected = schedules_.find("a").value();
    const auto expect_in = [&](const std::string& wanted) {
        EXPECT_EQ(table(), wanted);
        EXPECT_EQ(schedules_.find("a"), expected);
    };
    EXPECT_TRUE(update({.ends_at = seconds(2000)}, 1500));
    expected.ends_at = 2000;
    expect_in("own");
    EXPECT_TRUE(update({.ends_at = seconds(), .runs = seconds(4)}, 1500));
    expected.ends_at.reset();
    expected.runs_left = 4;
    expect_in("own");
    EXPECT_TRUE(update({.runs = seconds()}, 1500));
    expected.runs_left.reset();
    expect_in("shared");
    EXPECT_TRUE(update({.missed = missed_moments::skip, .grace = 7}, 1500));
    expected.missed = missed_moments::skip;
    expected.grace = 7;
    expect_in("own");
    EXPECT_TRUE(update({.missed = missed_moments::all, .overlap = overlap_policy::skip}, 1500));
    expected.missed = missed_moments::all;
    expected.overlap = overlap_policy::skip;
    expect_in("own");
    EXPECT_TRUE(update({.overlap = overlap_policy::allow}, 1500));
    expected.overlap = overlap_policy::allow;
    expected.grace = 60;
    expect_in("shared");
}

TEST_F(ScheduleUpdate, KeepsTheNextMomentAndTheLastJobOfOneOfOurs)
{
    add_ending("a", 5000, 9);
    EXPECT_EQ(tick(1010).size(), 1U);
    schedule expected = schedules_.find("a").value();
    EXPECT_EQ(expected.last_job, 1);
    EXPECT_TRUE(update({.payload = "2", .priority = 3, .max_attempts = 5}, 4000));
    EXPECT_TRUE(update({.grace = 9, .overlap = overlap_policy::skip}, 4000));
    EXPECT_TRUE(update({.ends_at = seconds(1020), .runs = seconds(2)}, 4000));
    expected.payload = "2";
    expected.priority = 3;
    expected.max_attempts = 5;
    expected.grace = 9;
    expected.overlap = overlap_policy::skip;
    expected.ends_at = 1020;
    expected.runs_left = 2;
    EXPECT_EQ(schedules_.find("a"), expected);
    EXPECT_THAT(fired(1020), IsEmpty()) << "the job of 1010 lives";
}

TEST_F(ScheduleUpdate, RefusesWhatRegisteringRefuses)
{
    add_every("a", "10s");
    EXPECT_THAT(refusal({.runs = seconds(0)}), HasSubstr("runs must be at least 1, got 0"));
    EXPECT_THAT(refusal({.grace = -1}), HasSubstr("grace must not be negative, got -1"));
    EXPECT_THAT(refusal({.ends_at = seconds(1009)}),
                HasSubstr("has no moment before the schedule ends"));
    EXPECT_THAT(refusal({.expression = "@every 20s", .ends_at = seconds(1019)}),
                HasSubstr("has no moment before the schedule ends"));
    EXPECT_EQ(refusal({.expression = "@every 20s", .ends_at = seconds(1020)}), "accepted");
    EXPECT_EQ(next_of("a"), 1020);
    EXPECT_THAT(fired(1040), ElementsAre(1020));
}

TEST_F(ScheduleUpdate, CanEndItAtTheMomentThatComesNext)
{
    add_every("a", "10s");
    EXPECT_TRUE(update({.ends_at = seconds(1010)}));
    EXPECT_THAT(fired(1060), ElementsAre(1010));
    EXPECT_EQ(next_of("a"), std::nullopt);
}

TEST_F(ScheduleUpdate, StartsOneAgainThatHadReachedItsEnd)
{
    add_ending("a", 1010);
    EXPECT_EQ(tick(1015).size(), 1U);
    EXPECT_TRUE(update({.payload = "2"}, 1500));
    EXPECT_EQ(next_of("a"), std::nullopt) << "that is no later end";
    EXPECT_THAT(refusal({.ends_at = seconds(1505)}, 1500), HasSubstr("has no moment before"));
    EXPECT_THAT(refusal({.runs = seconds(3)}, 1500), HasSubstr("has no moment before"));
    EXPECT_TRUE(update({.ends_at = seconds(1511)}, 1501));
    EXPECT_EQ(next_of("a"), 1511);
    EXPECT_THAT(fired(1600), ElementsAre(1511));
    EXPECT_TRUE(update({.ends_at = seconds()}, 1700));
    EXPECT_EQ(table(), "shared");
    EXPECT_EQ(next_of("a"), 1710);
}

TEST_F(ScheduleUpdate, StartsOneAgainThatHadFiredAsOftenAsItWasTo)
{
    add_ending("a", std::nullopt, 1);
    EXPECT_EQ(tick(1015).size(), 1U);
    EXPECT_TRUE(update({.ends_at = seconds(9000)}, 1500));
    EXPECT_EQ(next_of("a"), std::nullopt) << "no runs are left";
    tables_.write([&] { schedules_.pause("a"); });
    EXPECT_TRUE(update({.runs = seconds(2)}, 1500));
    EXPECT_EQ(next_of("a"), 1510);
    EXPECT_FALSE(schedules_.find("a")->is_enabled);
    tables_.write([&] { schedules_.resume("a"); });
    EXPECT_THAT(fired(1555), ElementsAre(1510, 1520));
    EXPECT_TRUE(update({.ends_at = seconds(), .runs = seconds()}, 2000));
    EXPECT_EQ(table(), "shared");
    EXPECT_THAT(fired(2010), ElementsAre(2010));
}

TEST_F(ScheduleUpdate, OfOneWithoutAnotherMomentLeavesItInOurTable)
{
    // Nothing but its own policy keeps it out of the shared table, which has no place for an end.
    file().sql("INSERT INTO _skein_schedules (name, queue, cron_expr, payload, priority, enabled,"
               " max_attempts, missed, grace_s, overlap)"
               " VALUES ('a', 'q', '* * * * *', '1', 0, 1, 3, 'once', 60, 'allow')");
    EXPECT_TRUE(update({.missed = missed_moments::all}));
    EXPECT_EQ(table(), "own");
    EXPECT_EQ(next_of("a"), std::nullopt);
}

TEST_F(ScheduleUpdate, ChecksTheNumberOfRunsBeforeWhetherThereIsSuchASchedule)
{
    EXPECT_THROW(update({.runs = seconds(0)}), invalid_argument);
    EXPECT_THROW(update({.payload = "{", .runs = seconds(0)}), invalid_payload);
    EXPECT_FALSE(update({.ends_at = seconds(1)}));
}

TEST_F(ScheduleUpdate, OfAPlainFileCannotGiveItWhatItHasNoTableFor)
{
    const skein::support::plain_connection plain_file(directory_ / "plain.db");
    plain_file.sql(schedule_tables().statements.front());
    const skein::sqlite::connection connection(plain_file.handle());
    schedules plain(connection, inspect_schedules(connection));
    plain.register_schedule({.name = "a", .queue = "q", .expression = "@hourly", .payload = "1"},
                            1000);
    EXPECT_THROW(plain.update("a", {.runs = seconds(2)}, 1000), invalid_argument);
    EXPECT_EQ(plain.find("a")->runs_left, std::nullopt);
    EXPECT_EQ(plain.soonest_after(3599), 3600);
    EXPECT_EQ(plain.soonest_after(3600), std::nullopt);
    EXPECT_EQ(plain.count_due(3599), 0);
    EXPECT_EQ(plain.count_due(3600), 1);
}

} // namespace
