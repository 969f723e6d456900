#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/statement_counter.hpp"

#include <skein/skein.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using skein::support::manual_database;
using skein::support::operation;
using skein::support::statement_counter;

/// Lines whose looks tell them when to look again, which those of rate limits do.
class DatedWaiting : public ::testing::Test {
protected:
    /// A limit of one permit in so many seconds, whose permit is taken.
    skein::rate_limit empty_limit(std::chrono::seconds per, std::string_view name = "r")
    {
        const skein::rate_limit limit = db_.database().rate_limit(name, {.permits = 1, .per = per});
        EXPECT_TRUE(db_.run(limit.try_take()));
        return limit;
    }

    /// Waits for the permit; the line looks, and has a date then.
    operation<void> start(const skein::rate_limit& limit)
    {
        operation<void> started = db_.start(limit.take());
        db_.settle();
        EXPECT_FALSE(started.is_done());
        return started;
    }

    void step(std::chrono::nanoseconds length)
    {
        using wall = skein::clock::wall_time::duration;
        db_.clock().set_wall(db_.clock().wall_now() + std::chrono::duration_cast<wall>(length));
    }

    void pass(std::chrono::seconds length)
    {
        for (auto left = length; left > 0s; left -= 1s) {
            db_.advance(1s);
        }
    }

    static std::size_t looks(const statement_counter& statements)
    {
        return statements.count("FROM _honker_rate_limits");
    }

    // A step back stays behind the epoch.
    skein::support::temporary_directory directory_;
    manual_database db_{
        directory_ / "test.db", manual_database::quick(),
        std::make_shared<skein::testing::manual_clock>(skein::clock::wall_time(100'000s))};
};

TEST_F(DatedWaiting, LooksAtItsDateAndNotBefore)
{
    const auto waiting = start(empty_limit(10s));
    const statement_counter statements(db_.handle());
    pass(9s);
    db_.advance(1s - 1ns);
    EXPECT_EQ(statements.count(), statements.count("PRAGMA data_version"));
    db_.advance(1ns);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(DatedWaiting, OfManyLinesLooksOnlyInTheOneWhoseDateHasCome)
{
    std::vector<operation<void>> waits;
    for (int per = 11; per <= 20; ++per) {
        waits.push_back(start(empty_limit(std::chrono::seconds{per}, std::to_string(per))));
    }
    const auto done = [&] {
        return static_cast<std::size_t>(
            std::ranges::count_if(waits, [](const auto& each) { return each.is_done(); }));
    };
    const statement_counter statements(db_.handle());
    for (int each = 0; each < 20; ++each) {
        db_.advance(1s);
        EXPECT_LE(looks(statements), done());
        EXPECT_EQ(statements.count("INSERT INTO _honker_rate_limits"), done());
    }
    EXPECT_EQ(done(), waits.size());
}

TEST_F(DatedWaiting, ForADayLooksOnce)
{
    const skein::rate_limit limit = empty_limit(24h);
    const auto waiting = start(limit);
    const statement_counter statements(db_.handle());
    while (!waiting.is_done()) {
        db_.advance(1min);
    }
    EXPECT_EQ(looks(statements), 1U);
}

TEST_F(DatedWaiting, HasADateAgainWhenSomeOfTheLineWereServed)
{
    const skein::rate_limit limit = empty_limit(10s);
    const auto first = start(limit);
    const auto second = start(limit);
    db_.advance(10s);
    EXPECT_TRUE(first.is_done());
    const statement_counter statements(db_.handle());
    pass(9s);
    EXPECT_EQ(looks(statements), 0U);
    db_.advance(1s);
    EXPECT_TRUE(second.is_done());
}

TEST_F(DatedWaiting, LeavesNoDateBehind)
{
    const skein::rate_limit limit = empty_limit(10s);
    auto cancelled = start(limit);
    EXPECT_NE(db_.clock().alarms(), 0U);
    cancelled.cancel();
    db_.settle();
    EXPECT_EQ(db_.clock().alarms(), 0U);
    const auto served = start(limit);
    db_.advance(10s);
    EXPECT_TRUE(served.is_done());
    EXPECT_EQ(db_.clock().alarms(), 0U);
    const auto later = start(limit);
    db_.advance(10s);
    EXPECT_TRUE(later.is_done());
}

TEST_F(DatedWaiting, TakesTheDateOfALookThatACommitHasCaused)
{
    const auto waiting = start(empty_limit(10s));
    const skein::support::plain_connection other(db_.path());
    other.sql("UPDATE _honker_rate_limits SET window_start = window_start + 10");
    other.sql("INSERT INTO _honker_rate_limits VALUES ('r', 100000, 1)");
    db_.advance(1ms);
    pass(10s);
    EXPECT_FALSE(waiting.is_done()) << "the next window is full, too";
    pass(10s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(DatedWaiting, NoticesAStepBackWhenItsAlarmRings)
{
    const auto waiting = start(empty_limit(10s));
    step(-1h);
    const statement_counter statements(db_.handle());
    pass(9s);
    EXPECT_EQ(looks(statements), 0U);
    db_.advance(1s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(DatedWaiting, NoticesAStepBackWithinAMinuteHoweverFarTheDateIs)
{
    const auto waiting = start(empty_limit(24h));
    step(-20h);
    pass(60s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(DatedWaiting, NoticesAStepBackThatComesWhileItLooks)
{
    const skein::rate_limit limit = empty_limit(10s);
    statement_counter statements(db_.handle());
    bool has_stepped = false;
    statements.when_finished("SELECT 1 FROM _honker_rate_limits", [&] {
        if (!has_stepped) {
            has_stepped = true;
            step(-1h);
        }
    });
    const auto waiting = start(limit);
    EXPECT_TRUE(has_stepped);
    pass(61s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(DatedWaiting, KeepsToTheWallClockWhenThatIsSetBackALittle)
{
    const auto waiting = start(empty_limit(10s));
    step(-50ms);
    db_.advance(10s);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(50ms - 1ns);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1ns);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(DatedWaiting, NoticesAStepForwardWithinAMinute)
{
    const auto waiting = start(empty_limit(24h));
    step(24h);
    pass(60s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(DatedWaiting, CostsOneLookForAStepAndNoneAfterIt)
{
    const skein::rate_limit limit = empty_limit(24h);
    std::vector<operation<void>> waits;
    for (int each = 0; each < 1000; ++each) {
        waits.push_back(start(limit));
    }
    step(1s);
    const statement_counter statements(db_.handle());
    pass(60s);
    EXPECT_EQ(looks(statements), 1U);
    pass(600s);
    EXPECT_EQ(looks(statements), 1U);
}

TEST_F(DatedWaiting, IsNotWhatLinesWithoutADateDo)
{
    const skein::queue queue = db_.database().queue("q");
    EXPECT_FALSE(db_.run(queue.try_claim()));
    const auto claim = db_.start(queue.claim());
    db_.settle();
    step(-1h);
    const statement_counter statements(db_.handle());
    pass(600s);
    EXPECT_EQ(statements.count(), statements.count("PRAGMA data_version"));
    EXPECT_FALSE(claim.is_done());
}

} // namespace
