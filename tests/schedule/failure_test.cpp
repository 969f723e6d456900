#include "schedule/failing_fixture.hpp"

#include "support/other_process.hpp"

#include <SQLiteCpp/Database.h>

#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::at;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Failing : public support::failing_fixture {};

TEST_F(Failing, IsSaidAndTriedAgain)
{
    add("s", "@every 10s");
    const auto running = run();
    refuse_jobs();
    db_.advance(10s);
    ASSERT_EQ(warnings_->size(), 1U);
    EXPECT_THAT(warnings_->back(), HasSubstr("not now"));
    EXPECT_THAT(warnings_->back(), HasSubstr("the next try is in 1 s"));
    EXPECT_EQ(find("s").next_at, at(110));
    accept_jobs();
    db_.advance(1s);
    EXPECT_EQ(jobs(), 1);
    EXPECT_EQ(find("s").next_at, at(120));
    EXPECT_EQ(warnings_->size(), 1U);
}

TEST_F(Failing, IsTriedAgainAfterGrowingPauses)
{
    add("s", "@every 10s");
    const auto running = run();
    refuse_jobs();
    db_.advance(10s);
    std::vector<int> pauses;
    while (pauses.size() < 8) {
        const std::size_t before = warnings_->size();
        for (int seconds = 1; warnings_->size() == before; ++seconds) {
            ASSERT_LE(seconds, 60);
            db_.advance(1s);
            if (warnings_->size() != before) {
                pauses.push_back(seconds);
            }
        }
    }
    EXPECT_THAT(pauses, ::testing::ElementsAre(1, 2, 4, 8, 16, 32, 60, 60));

    accept_jobs();
    db_.advance(60s);
    EXPECT_GT(jobs(), 0);
    refuse_jobs(); // after a success the pauses are short again
    db_.advance(10s);
    EXPECT_THAT(warnings_->back(), HasSubstr("the next try is in 1 s"));
}

TEST_F(Failing, IsNotTriedSoonerBecauseOthersCommit)
{
    add("s", "@every 10s");
    const auto running = run();
    refuse_jobs();
    db_.advance(10s);
    for (int i = 0; i < 100; ++i) {
        other_.sql("UPDATE _honker_scheduler_tasks SET priority = priority + 1");
        db_.advance(1ms);
    }
    EXPECT_EQ(warnings_->size(), 1U);
}

TEST_F(Failing, IsTriedAgainAtTheEndOfTime)
{
    db_.clock().set_wall(clock::wall_time::max() - 60s);
    add("s", "@every 1s");
    const auto running = run();
    refuse_jobs();
    pass_seconds(40); // the last pause would end behind it
    EXPECT_EQ(warnings_->size(), 6U);
    EXPECT_FALSE(running.is_done());
}

TEST_F(Failing, OutlastsALockThatIsHeldForLong)
{
    add("s", "@every 10s");
    const auto running = run();
    support::other_process other(db_.path());
    other.lock();
    for (int i = 0; i < 100; ++i) {
        db_.advance(200ms);
    }
    EXPECT_FALSE(running.is_done());
    ASSERT_FALSE(warnings_->empty());
    EXPECT_THAT(warnings_->front(), HasSubstr("busy_timeout"));
    other.unlock();
    for (int i = 0; i < 100; ++i) {
        db_.advance(200ms);
    }
    EXPECT_EQ(jobs(), 4); // of 40 s
}

TEST_F(Failing, OutlastsAFullDisk)
{
    add("s", "@every 10s");
    const auto running = run();
    const auto set_most = [&](const std::string& pages) {
        const auto limit = [&](skein::transaction& tx) {
            return tx.database().execAndGet("PRAGMA max_page_count = " + pages).getInt();
        };
        return db_.run(db_.database().transaction(limit));
    };
    const int pages = std::stoi(value("PRAGMA page_count"));
    db_.run(scheduler_.update("s", {.payload = '"' + std::string(100'000, 'x') + '"'}));
    set_most(std::to_string(pages + 30));
    db_.advance(10s);
    EXPECT_EQ(jobs(), 0);
    EXPECT_FALSE(running.is_done());
    ASSERT_FALSE(warnings_->empty());
    set_most("1000000");
    db_.advance(1s);
    EXPECT_EQ(jobs(), 1);
}

TEST_F(Failing, OfAPayloadMakesDeadLetters)
{
    add_foreign("odd", "@every1s", 101);
    other_.sql("UPDATE _honker_scheduler_tasks SET payload = 'no json'");
    const auto running = run();
    db_.advance(2s);
    EXPECT_EQ(jobs(), 0);
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead WHERE queue = 'q'"), "2");
    EXPECT_THAT(*warnings_, IsEmpty());
}

TEST_F(Failing, WaitsForTablesThatAreSomebodyElsesToMake)
{
    support::manual_database empty(support::warnings{warnings_}.options());
    const auto running = empty.start(empty.database().scheduler({.create_schema = false}).run());
    empty.settle();
    EXPECT_FALSE(running.is_done());
    ASSERT_EQ(warnings_->size(), 1U);
    EXPECT_THAT(warnings_->back(), HasSubstr("_honker_scheduler_tasks"));

    const support::plain_connection file(empty.path());
    for (const auto& statements : {schema::queue(), schema::schedules()}) {
        for (const std::string& each : statements) {
            file.sql(each);
        }
    }
    file.sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, next_fire_at)"
             " VALUES ('a', 'q', '@every1s', 'null', 100)");
    empty.advance(1s);
    EXPECT_EQ(file.value("SELECT count(*) FROM _honker_live"), "2");
}

} // namespace
