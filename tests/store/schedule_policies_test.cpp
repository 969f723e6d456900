#include "store/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

/// Schedules of every 10 seconds, registered at 1000, that have something of their own.
class SchedulePolicies : public schedule_file {
protected:
    static new_schedule every_ten()
    {
        return {.name = "a", .queue = "q", .expression = "@every 10s", .payload = "1"};
    }

    static new_schedule with(missed_moments missed)
    {
        new_schedule added = every_ten();
        added.missed = missed;
        return added;
    }
};

TEST_F(SchedulePolicies, OnceFiresOnceForAllThatWasMissed)
{
    add(with(missed_moments::once), 1000);
    EXPECT_THAT(fired(1010), ElementsAre(1010));
    EXPECT_THAT(fired(1055), ElementsAre(1020));
    EXPECT_EQ(next_of("a"), 1060) << "it keeps its pace";
    EXPECT_THAT(fired(1'000'060), ElementsAre(1060));
    EXPECT_EQ(next_of("a"), 1'000'070);
}

TEST_F(SchedulePolicies, SkipLeavesOutWhatIsLongerAgoThanTheGrace)
{
    new_schedule added = with(missed_moments::skip);
    added.grace = 15;
    add(added, 1000);
    EXPECT_THAT(fired(1025), ElementsAre(1010, 1020)) << "15 s are not more than that";
    EXPECT_THAT(fired(1049), ElementsAre(1040)) << "1030 was 19 s ago";
    EXPECT_THAT(fired(2000), ElementsAre(1990, 2000));
    EXPECT_EQ(next_of("a"), 2010);
}

TEST_F(SchedulePolicies, SkipCanLeaveOutAll)
{
    new_schedule added = with(missed_moments::skip);
    added.expression = "0 * * * *";
    add(added, 1000);
    EXPECT_THAT(fired(3661), IsEmpty()) << "a minute and a second late";
    EXPECT_EQ(next_of("a"), 7200);
    EXPECT_THAT(fired(7260), ElementsAre(7200)) << "a minute";
}

TEST_F(SchedulePolicies, SkipWithoutGraceFiresAtTheVerySecond)
{
    new_schedule added = with(missed_moments::skip);
    added.grace = 0;
    add(added, 1000);
    EXPECT_THAT(fired(1011), IsEmpty());
    EXPECT_THAT(fired(1020), ElementsAre(1020));
}

TEST_F(SchedulePolicies, AllOfOursKeepsThePaceOfWhatIsLeftOut)
{
    new_schedule added = every_ten();
    added.overlap = overlap_policy::allow;
    added.ends_at = 1'000'000;
    add(added, 1000);
    EXPECT_EQ(tick(100'005).size(), 64U);
    EXPECT_EQ(next_of("a"), 100'010);
}

TEST_F(SchedulePolicies, OverlapIsSkippedWhileTheJobOfTheLastMomentLives)
{
    new_schedule added = every_ten();
    added.overlap = overlap_policy::skip;
    add(added, 1000);
    EXPECT_THAT(fired(1010), ElementsAre(1010));
    EXPECT_THAT(fired(1020), IsEmpty());
    EXPECT_EQ(next_of("a"), 1030);
    file().sql("UPDATE _honker_live SET state = 'processing', claim_expires_at = 9999");
    EXPECT_THAT(fired(1030), IsEmpty());
    file().sql("DELETE FROM _honker_live");
    EXPECT_THAT(fired(1065), ElementsAre(1040)) << "and the others of that tick overlap with it";
    add(added, 1065);
    EXPECT_THAT(fired(1075), IsEmpty()) << "registering it anew does not let it overlap";
}

TEST_F(SchedulePolicies, EndsAfterItsLastMoment)
{
    new_schedule added = every_ten();
    added.ends_at = 1030;
    add(added, 1000);
    EXPECT_THAT(fired(1015), ElementsAre(1010));
    EXPECT_THAT(fired(5000), ElementsAre(1020, 1030)) << "what came due before the end";
    EXPECT_EQ(next_of("a"), std::nullopt);
    EXPECT_EQ(schedules_.soonest(), std::nullopt);
    EXPECT_THAT(fired(9000), IsEmpty());
    EXPECT_EQ(schedules_.list().size(), 1U);
}

TEST_F(SchedulePolicies, EndsAfterSoManyRuns)
{
    new_schedule added = every_ten();
    added.runs = 3;
    add(added, 1000);
    EXPECT_THAT(fired(1020), ElementsAre(1010, 1020));
    EXPECT_EQ(schedules_.find("a")->runs_left, 1);
    EXPECT_THAT(fired(1060), ElementsAre(1030));
    EXPECT_EQ(schedules_.find("a")->runs_left, 0);
    EXPECT_EQ(next_of("a"), std::nullopt);
    EXPECT_TRUE(
        tables_.write([&] { return schedules_.update("a", {.expression = "@every 5s"}, 2000); }));
    EXPECT_EQ(next_of("a"), std::nullopt) << "it has run as often as it was to";
    add(added, 2000);
    EXPECT_EQ(next_of("a"), 2010);
}

TEST_F(SchedulePolicies, DoNotCountARunThatIsSkipped)
{
    new_schedule added = every_ten();
    added.runs = 2;
    added.overlap = overlap_policy::skip;
    add(added, 1000);
    EXPECT_THAT(fired(1050), ElementsAre(1010));
    EXPECT_EQ(schedules_.find("a")->runs_left, 1);
    file().sql("DELETE FROM _honker_live");
    EXPECT_THAT(fired(1060), ElementsAre(1060));
    EXPECT_EQ(next_of("a"), std::nullopt);
}

TEST_F(SchedulePolicies, FollowTheClocksOfTheirZone)
{
    new_schedule added = every_ten();
    added.expression = "CRON_TZ=Europe/Berlin 30 2 * * *";
    // From 2026-03-28 12:00 UTC on; the clocks change on the 29th.
    add(added, 1774699200);
    EXPECT_THAT(fired(1774746000), ElementsAre(1774746000));
    EXPECT_EQ(next_of("a"), 1774830600);
}

} // namespace
