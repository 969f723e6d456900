#include "schedule/schedule_fixture.hpp"

#include <memory>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::at;
using ::testing::ElementsAre;

class Running : public support::schedule_fixture {};

TEST_F(Running, EnqueuesAtTheMomentAndNotBefore)
{
    add("s", "@every 10s");
    const auto running = run();
    db_.advance(9'999ms);
    EXPECT_EQ(jobs(), 0);
    db_.advance(1ms);
    EXPECT_EQ(jobs(), 1);
    EXPECT_EQ(find("s").next_at, at(120));
    db_.advance(10s);
    EXPECT_EQ(jobs(), 2);
    EXPECT_FALSE(running.is_done());
}

TEST_F(Running, EnqueuesWhatTheScheduleSays)
{
    db_.run(scheduler_.add("s", "mail", "@every 10s", R"({"a":1})",
                           {.priority = 7, .expires_in = 60s, .max_attempts = 9}));
    const auto running = run();
    db_.advance(10s);
    EXPECT_THAT(other_.sql("SELECT queue, payload, state, priority, run_at, max_attempts,"
                           " attempts, expires_at, created_at FROM _honker_live"),
                ElementsAre(R"(mail|{"a":1}|pending|7|110|9|0|170|110)"));
}

TEST_F(Running, GivesTheJobToWhoeverWaitsForIt)
{
    auto claiming = db_.start(db_.database().queue("q").claim());
    add("s", "@every 10s");
    const auto running = run();
    EXPECT_FALSE(claiming.is_done());
    db_.advance(10s);
    ASSERT_TRUE(claiming.is_done());
    EXPECT_EQ(claiming.result().payload(), "null");
}

TEST_F(Running, MakesTheTablesOfQueuesToo)
{
    support::manual_database empty;
    const auto running = empty.start(empty.database().scheduler().run());
    empty.settle();
    const support::plain_connection file(empty.path());
    file.sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, next_fire_at)"
             " VALUES ('a', 'q', '@every 10s', 'null', 100)");
    empty.advance(1ms);
    EXPECT_EQ(file.value("SELECT count(*) FROM _honker_live"), "1");
}

TEST_F(Running, HeedsWhatOthersChange)
{
    const auto running = run();
    other_.sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, next_fire_at)"
               " VALUES ('a', 'q', '@every10s', 'null', 105)");
    db_.advance(1ms);
    db_.advance(5s);
    EXPECT_EQ(jobs(), 1);
    other_.sql("UPDATE _honker_scheduler_tasks SET next_fire_at = 110");
    db_.advance(1ms);
    db_.advance(5s);
    EXPECT_EQ(jobs(), 2);
    other_.sql("UPDATE _honker_scheduler_tasks SET enabled = 0");
    db_.advance(1ms);
    db_.advance(1h);
    EXPECT_EQ(jobs(), 2);
}

TEST_F(Running, HeedsChangesOfItsOwnDatabase)
{
    const auto running = run();
    add("s", "@every 1h");
    db_.run(scheduler_.update("s", {.expression = "@every 10s"}));
    db_.advance(10s);
    EXPECT_EQ(jobs(), 1);
    db_.run(scheduler_.pause("s"));
    db_.advance(30s);
    EXPECT_EQ(jobs(), 1);
    db_.run(scheduler_.resume("s"));
    db_.settle();
    EXPECT_EQ(jobs(), 4); // the moments of the pause
    db_.run(scheduler_.remove("s"));
    db_.advance(1h);
    EXPECT_EQ(jobs(), 4);
}

TEST_F(Running, GivesEachMomentOneJobHoweverManyRun)
{
    add("shared", "@every 1s");
    add("own", "CRON_TZ=UTC * * * * * *");
    support::manual_database second(db_.path(), support::manual_database::quick(),
                                    db_.clock_to_share());
    std::vector<support::operation<void>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(db_.start(scheduler_.run()));
        all.push_back(second.start(second.database().scheduler().run()));
    }
    db_.settle();
    second.settle();
    for (int moment = 1; moment <= 20; ++moment) {
        db_.clock().advance(1s);
        for (int i = 0; i < 5; ++i) { // also the pauses between tries for the write lock
            db_.settle();
            second.advance(1ms);
        }
        ASSERT_EQ(jobs(), 2 * moment);
    }
}

TEST_F(Running, IsTakenOverWhenOneIsCancelled)
{
    add("s", "@every 10s");
    auto first = run();
    const auto second = run();
    first.cancel();
    db_.settle();
    EXPECT_EQ(first.error(), asio::error::operation_aborted);
    db_.advance(10s);
    EXPECT_EQ(jobs(), 1);
}

TEST_F(Running, LosesNoMomentToACancellation)
{
    add("s", "@every 10s");
    auto first = run();
    db_.clock().advance(10s);
    first.cancel(); // just when it is about to tick
    db_.settle();
    EXPECT_TRUE(first.is_done());
    const auto second = run();
    EXPECT_EQ(jobs(), 1);
}

TEST_F(Running, EndsWithTheDatabase)
{
    add("s", "@every 10s");
    const auto running = run();
    db_.run(db_.database().close());
    db_.settle();
    EXPECT_EQ(running.error(), errc::closed);
}

TEST_F(Running, GoesOnAfterARestart)
{
    add("s", "@every 10s");
    auto running = run();
    db_.advance(9'999ms);
    db_.reopen(); // the moment before
    scheduler_ = db_.database().scheduler();
    running = run();
    EXPECT_EQ(jobs(), 0);
    db_.advance(1ms);
    EXPECT_EQ(jobs(), 1);
    db_.reopen(); // the moment itself
    scheduler_ = db_.database().scheduler();
    running = run();
    EXPECT_EQ(jobs(), 1);
    db_.advance(9'999ms);
    EXPECT_EQ(jobs(), 1);
    db_.advance(1ms);
    EXPECT_EQ(jobs(), 2);
}

TEST_F(Running, MakesUpForSixtyFourMomentsAndNoMore)
{
    add("s", "@every 1s");
    db_.advance(24h * 365 * 20);
    const auto running = run();
    EXPECT_EQ(jobs(), 64);
    EXPECT_EQ(find("s").next_at, at(100 + 20 * 365 * 86400 + 1));
    db_.advance(1s);
    EXPECT_EQ(jobs(), 65);
}

TEST_F(Running, MakesUpForMissedMomentsTogether)
{
    add("s", "@every 1s", {.missed = missed_moments::once});
    db_.advance(1h);
    const auto running = run();
    EXPECT_EQ(jobs(), 1);
    db_.advance(1s);
    EXPECT_EQ(jobs(), 2);
}

TEST_F(Running, LeavesMissedMomentsOut)
{
    add("s", "@every 1m", {.missed = missed_moments::skip, .grace = 90s});
    db_.advance(1h + 45s); // the last two moments were 45 s and 105 s ago
    const auto running = run();
    EXPECT_EQ(jobs(), 1);
    db_.advance(15s);
    EXPECT_EQ(jobs(), 2);
}

TEST_F(Running, LeavesAMomentOutWhileItsLastJobIsThere)
{
    add("s", "@every 10s", {.overlap = overlap_policy::skip});
    const auto running = run();
    db_.advance(10s);
    std::optional<job> first = db_.run(db_.database().queue("q").try_claim());
    ASSERT_TRUE(first);
    EXPECT_EQ(find("s").last_job, first->id());
    db_.advance(10s);
    EXPECT_EQ(jobs(), 1);
    EXPECT_TRUE(db_.run(first->ack()));
    EXPECT_EQ(jobs(), 0);
    db_.advance(10s);
    EXPECT_EQ(jobs(), 1);
}

TEST_F(Running, EndsASchedule)
{
    add("by time", "@every 10s", {.ends_at = at(120)});
    add("by number", "@every 10s", {.runs = 3});
    const auto running = run();
    for (int i = 0; i < 10; ++i) {
        db_.advance(10s);
    }
    EXPECT_EQ(jobs(), 5);
    EXPECT_EQ(find("by time").next_at, std::nullopt);
    EXPECT_EQ(find("by number").next_at, std::nullopt);
    EXPECT_EQ(find("by number").runs_left, 0);
    EXPECT_FALSE(db_.run(scheduler_.soonest()));
}

TEST_F(Running, WritesNothingWhenNothingIsDue)
{
    add("s", "@every 1h");
    const auto running = run();
    const std::string before = value("PRAGMA data_version");
    for (int i = 0; i < 50; ++i) {
        db_.advance(1min);
    }
    EXPECT_EQ(value("PRAGMA data_version"), before);
}

TEST_F(Running, FiresOnceThoughTheClockIsSetBack)
{
    add("s", "@every 10s");
    const auto running = run();
    db_.advance(10s);
    EXPECT_EQ(jobs(), 1);
    db_.clock().set_wall(at(50));
    db_.advance(60s);
    EXPECT_EQ(jobs(), 1);
    db_.advance(10s);
    EXPECT_EQ(jobs(), 2);
}

TEST_F(Running, NoticesThatTheClockIsSetForward)
{
    add("s", "CRON_TZ=UTC 0 12 * * *");
    const auto running = run();
    db_.clock().set_wall(at(12 * 3600));
    db_.advance(60s); // no alarm rings at a step: within a minute, then
    EXPECT_EQ(jobs(), 1);
    EXPECT_EQ(find("s").next_at, at(36 * 3600));
}

TEST_F(Running, MayBeEditedWhileOthersTick)
{
    add("s", "@every 1s");
    support::manual_database second(db_.path(), support::manual_database::quick(),
                                    db_.clock_to_share());
    const auto running = second.start(second.database().scheduler().run());
    second.settle();
    for (int moment = 1; moment <= 20; ++moment) {
        db_.clock().advance(1s);
        const std::string payload = std::to_string(moment);
        auto change = db_.start(scheduler_.update("s", {.payload = payload}));
        for (int i = 0; i < 5; ++i) {
            moment % 2 == 0 ? db_.settle() : second.settle();
            second.advance(1ms);
            db_.settle();
        }
        ASSERT_TRUE(change.result());
        ASSERT_EQ(jobs(), moment);
    }
}

} // namespace
