#include "rate_limit/rate_limit_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::statement_counter;

/// The time starts where there is room for going back.
class PermitClock : public support::each_rate_limit {
protected:
    PermitClock() : each_rate_limit(epoch(100'000s)) {}

    /// Lets so much time pass, a second at a time.
    void pass(std::chrono::seconds length, bool with_commits = false)
    {
        for (auto left = length; left > 0s; left -= 1s) {
            if (with_commits) {
                other_.sql("CREATE TABLE IF NOT EXISTS t (v); INSERT INTO t VALUES (1)");
                db_.advance(1ms);
                db_.advance(999ms);
            } else {
                db_.advance(1s);
            }
        }
    }

    void step_back() { db_.clock().set_wall(db_.clock().wall_now() - 1h); }
};

TEST_P(PermitClock, SetBackFreezesNobodyWhoWaits)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    db_.advance(1s);
    step_back();
    // The alarm was set for the end of the ten seconds; then it is looked up, and at the latest
    // after ten seconds more there is a permit.
    pass(9s);
    pass(10s);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(PermitClock, SetBackFreezesNobodyWhenOthersCommitAllTheTime)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    db_.advance(1s);
    step_back();
    // The first commit makes it look; ten seconds from then on there is a permit.
    pass(10s, true);
    db_.advance(1ms);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(PermitClock, SetBackFreezesNobodyWhoTries)
{
    const rate_limit limit = make_empty();
    step_back();
    bool is_taken = try_take(limit);
    for (int each = 0; each < 10 && !is_taken; ++each) {
        db_.advance(1s);
        is_taken = try_take(limit);
    }
    EXPECT_TRUE(is_taken);
}

TEST_P(PermitClock, SetBackAgainAndAgainFreezesNobody)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 3);
    for (int each = 0; each < 3; ++each) {
        step_back();
        pass(20s);
        EXPECT_GE(done(waiting), each + 1);
    }
}

TEST_P(PermitClock, SetBackIsNoticedWithinAMinuteOfALongWait)
{
    const rate_limit limit =
        db_.database().rate_limit("r", {.permits = 1, .per = 24h, .algorithm = GetParam()});
    EXPECT_TRUE(try_take(limit));
    const waits waiting = start_takes(limit, 1);
    db_.clock().set_wall(db_.clock().wall_now() - 24h * 365);
    const statement_counter statements(db_.handle());
    pass(60s);
    EXPECT_GE(statements.count("FROM _honker_rate_limits") +
                  statements.count("FROM _skein_rate_limits"),
              1U);
    EXPECT_EQ(done(waiting), GetParam() == rate_limit_algorithm::fixed_window ? 1 : 0);
    db_.advance(24h);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(PermitClock, SetForwardIsNoticedWithinAMinute)
{
    const rate_limit limit =
        db_.database().rate_limit("r", {.permits = 1, .per = 24h, .algorithm = GetParam()});
    EXPECT_TRUE(try_take(limit));
    const waits waiting = start_takes(limit, 1);
    db_.clock().set_wall(db_.clock().wall_now() + 24h);
    pass(60s);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(PermitClock, SetBackCostsAFewStatementsOnce)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1000);
    step_back();
    const statement_counter statements(db_.handle());
    pass(9s);
    EXPECT_EQ(statements.count("_rate_limits"), 0U) << "it was not due yet";
    pass(1s);
    EXPECT_LE(statements.count("_rate_limits"), 6U);
}

TEST_P(PermitClock, OfAnotherProcessThatWasFarAheadFreezesNobody)
{
    const rate_limit limit = make();
    {
        support::manual_database ahead(db_.path());
        ahead.clock().set_wall(epoch(10'000'000s));
        const rate_limit theirs =
            ahead.database().rate_limit("r", {.permits = 1, .per = 10s, .algorithm = GetParam()});
        EXPECT_TRUE(ahead.run(theirs.try_take()));
        EXPECT_FALSE(ahead.run(theirs.try_take()));
    }
    const waits waiting = start_takes(limit, 1);
    pass(10s);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(PermitClock, OfAnotherProcessThatIsFarAheadFreezesNobodyByItsCommits)
{
    const rate_limit limit = make();
    support::manual_database ahead(db_.path());
    ahead.clock().set_wall(epoch(10'000'000s));
    const rate_limit theirs =
        ahead.database().rate_limit("r", {.permits = 1, .per = 10s, .algorithm = GetParam()});
    EXPECT_TRUE(ahead.run(theirs.try_take()));
    const waits waiting = start_takes(limit, 1);
    pass(10s, true);
    EXPECT_EQ(done(waiting), 1);
}

/// Which is what would go on for ever if the pull back were not kept.
TEST_P(PermitClock, SetBackIsWrittenOnceAndNotWithEachCommitOfOthers)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 3);
    step_back();
    const statement_counter statements(db_.handle());
    pass(9s, true);
    EXPECT_LE(statements.count("BEGIN"), 1U);
}

TEST_P(PermitClock, AtTheEndsOfTimeIsNoTrouble)
{
    for (const auto moment :
         {clock::wall_time::min(), epoch(-1s), epoch(0s), clock::wall_time::max() - 24h}) {
        db_.clock().set_wall(moment);
        const rate_limit limit = make(std::to_string(moment.time_since_epoch().count()));
        EXPECT_TRUE(try_take(limit));
        auto waiting = db_.start(limit.take_within(30s));
        db_.settle();
        pass(30s);
        ASSERT_TRUE(waiting.is_done());
        EXPECT_TRUE(waiting.result());
    }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, PermitClock, ::testing::ValuesIn(support::both_algorithms),
                         support::algorithm_name);

} // namespace
