#include "rate_limit/rate_limit_fixture.hpp"

#include <asio/error.hpp>

#include <limits>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::statement_counter;

class WaitingForAPermit : public support::each_rate_limit {
protected:
    void tick(int times)
    {
        for (int each = 0; each < times; ++each) {
            db_.advance(1ms);
        }
    }
};

TEST_P(WaitingForAPermit, EndsAtOnceWhenThereIsOne)
{
    const rate_limit limit = make();
    db_.run(limit.take());
    EXPECT_FALSE(try_take(limit));
}

TEST_P(WaitingForAPermit, EndsWhenTheNextOneIsFreeNotEarlierNotLater)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    db_.advance(10s - 1us);
    EXPECT_EQ(done(waiting), 0);
    db_.advance(1us);
    EXPECT_EQ(done(waiting), 1);
    EXPECT_FALSE(try_take(limit)) << "it was taken";
}

TEST_P(WaitingForAPermit, IsServedInTheOrderOfArrival)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 4);
    for (std::size_t each = 0; each < waiting.size(); ++each) {
        EXPECT_FALSE(waiting[each].is_done());
        db_.advance(10s);
        EXPECT_TRUE(waiting[each].is_done());
        EXPECT_EQ(done(waiting), static_cast<std::ptrdiff_t>(each) + 1);
    }
}

TEST_P(WaitingForAPermit, IsOneLineForAllHandlesThatAreEqual)
{
    const rate_limit first = make_empty();
    const rate_limit second = make();
    auto one = db_.start(first.take());
    auto two = db_.start(second.take());
    auto three = db_.start(first.take());
    db_.settle();
    db_.advance(10s);
    EXPECT_TRUE(one.is_done());
    EXPECT_FALSE(two.is_done());
    db_.advance(10s);
    EXPECT_TRUE(two.is_done());
    EXPECT_FALSE(three.is_done());
}

TEST_P(WaitingForAPermit, OfOneNameDoesNotConcernAnother)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    EXPECT_TRUE(try_take(make("another")));
    db_.run(make("third").take());
    EXPECT_EQ(done(waiting), 0);
}

TEST_P(WaitingForAPermit, WhoTriesGetsNoneBeforeThoseWhoWait)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    db_.clock().advance(10s); // the alarm and the try come together
    auto attempt = db_.start(limit.try_take());
    db_.settle();
    EXPECT_EQ(done(waiting), 1);
    EXPECT_FALSE(attempt.result());
}

TEST_P(WaitingForAPermit, WhoTriesWhileOthersWaitHarmsNobody)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    for (int each = 0; each < 9; ++each) {
        db_.advance(1s);
        EXPECT_FALSE(try_take(limit));
    }
    db_.advance(1s);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(WaitingForAPermit, WithALimitGetsOneInTime)
{
    const rate_limit limit = make_empty();
    auto waiting = db_.start(limit.take_within(10001ms));
    db_.settle();
    db_.advance(10s);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_TRUE(waiting.result());
}

TEST_P(WaitingForAPermit, WithALimitEndsWithoutOne)
{
    const rate_limit limit = make_empty();
    const auto before = rows();
    auto waiting = db_.start(limit.take_within(5s));
    db_.settle();
    db_.advance(4999ms);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1ms);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_FALSE(waiting.result());
    EXPECT_EQ(rows(), before);
    EXPECT_EQ(db_.clock().alarms(), 0U) << "something is left behind";
}

TEST_P(WaitingForAPermit, WithALimitThatIsOverLeavesItsPlaceToTheNext)
{
    const rate_limit limit = make_empty();
    auto brief = db_.start(limit.take_within(5s));
    const waits patient = start_takes(limit, 1);
    db_.advance(10s);
    EXPECT_FALSE(brief.result());
    EXPECT_EQ(done(patient), 1);
}

TEST_P(WaitingForAPermit, WithoutALimitToSpeakOfIsATry)
{
    const rate_limit limit = make_empty();
    for (const auto length : {duration(0), duration(-1), duration(-1e300)}) {
        EXPECT_FALSE(db_.run(limit.take_within(length)));
    }
    db_.advance(10s);
    EXPECT_TRUE(db_.run(limit.take_within(0s)));
}

TEST_P(WaitingForAPermit, WithTheLongestLimitHasNone)
{
    const rate_limit limit = make_empty();
    auto waiting = db_.start(limit.take_within(duration::max()));
    auto hours = db_.start(limit.take_within(std::chrono::hours::max()));
    db_.settle();
    db_.advance(10s);
    db_.advance(10s);
    EXPECT_TRUE(waiting.result());
    EXPECT_TRUE(hours.result());
}

TEST_P(WaitingForAPermit, ForNoNumberIsRefusedByTheCall)
{
    const rate_limit limit = make();
    const duration none{std::numeric_limits<double>::quiet_NaN()};
    try {
        static_cast<void>(limit.take_within(none));
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
    }
}

TEST_P(WaitingForAPermit, ThatIsCancelledTakesNothingAndLeavesNothingBehind)
{
    const rate_limit limit = make_empty();
    const auto before = rows();
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        auto waiting = db_.start(limit.take());
        db_.settle();
        EXPECT_NE(db_.clock().alarms(), 0U);
        waiting.cancel(type);
        db_.settle();
        EXPECT_EQ(waiting.error(), asio::error::operation_aborted);
        EXPECT_EQ(db_.clock().alarms(), 0U);
    }
    db_.advance(10s);
    EXPECT_EQ(rows(), before);
    EXPECT_TRUE(try_take(limit));
}

TEST_P(WaitingForAPermit, ThatIsCancelledLeavesItsPlaceToTheNext)
{
    const rate_limit limit = make_empty();
    waits waiting = start_takes(limit, 3);
    waiting[0].cancel();
    db_.settle();
    db_.advance(10s);
    EXPECT_EQ(waiting[0].error(), asio::error::operation_aborted);
    EXPECT_TRUE(waiting[1].is_done());
    EXPECT_FALSE(waiting[2].is_done());
}

TEST_P(WaitingForAPermit, ThatIsCancelledAsItsPermitComesHandsItOn)
{
    const rate_limit limit = make_empty();
    waits waiting = start_takes(limit, 2);
    db_.clock().advance(10s);
    waiting[0].cancel();
    db_.settle();
    EXPECT_EQ(waiting[0].error(), asio::error::operation_aborted);
    EXPECT_TRUE(waiting[1].is_done());
}

TEST_P(WaitingForAPermit, ThatIsCancelledBeforeItBeginsTakesNothing)
{
    const rate_limit limit = make();
    auto take = db_.start(limit.take());
    auto attempt = db_.start(limit.try_take());
    take.cancel();
    attempt.cancel();
    db_.settle();
    EXPECT_EQ(take.error(), asio::error::operation_aborted);
    EXPECT_EQ(attempt.error(), asio::error::operation_aborted);
    EXPECT_TRUE(try_take(limit));
}

TEST_P(WaitingForAPermit, ThatIsCancelledAfterItHasGotOneReturnsIt)
{
    const rate_limit limit = make_empty();
    waits waiting = start_takes(limit, 1);
    db_.advance(10s);
    ASSERT_TRUE(waiting[0].is_done());
    waiting[0].cancel();
    db_.settle();
    EXPECT_FALSE(waiting[0].has_failed());
}

TEST_P(WaitingForAPermit, EndsWhenTheDatabaseIsClosed)
{
    const rate_limit limit = make_empty();
    waits waiting = start_takes(limit, 2);
    db_.run(db_.database().close());
    for (auto& each : waiting) {
        EXPECT_EQ(each.error(), errc::closed);
    }
    auto late = db_.start(limit.take());
    auto attempt = db_.start(limit.try_take());
    db_.settle();
    EXPECT_EQ(late.error(), errc::closed);
    EXPECT_EQ(attempt.error(), errc::closed);
}

TEST_P(WaitingForAPermit, EndsWhenTheLastHandleOfTheDatabaseIsGone)
{
    const rate_limit limit = make_empty();
    waits waiting = start_takes(limit, 1);
    db_.drop_database();
    EXPECT_EQ(waiting[0].error(), errc::closed);
    EXPECT_EQ(limit.name(), "r");
}

TEST_P(WaitingForAPermit, OfAThousandCostsNoStatementWhileNothingHappens)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1000);
    const statement_counter statements(db_.handle());
    tick(1000);
    EXPECT_EQ(statements.count(), statements.count("PRAGMA data_version"));
    EXPECT_EQ(done(waiting), 0);
}

TEST_P(WaitingForAPermit, OfAThousandCostsOneLookForTheNewcomers)
{
    const rate_limit limit = make_empty();
    const statement_counter statements(db_.handle());
    start_takes(limit, 1000);
    EXPECT_EQ(statements.count("_rate_limits"), 1U);
    EXPECT_EQ(statements.count("BEGIN"), 0U);
}

TEST_P(WaitingForAPermit, TakesNoWriteLockWhileThereIsNone)
{
    const rate_limit limit = make_empty();
    const statement_counter statements(db_.handle());
    const waits waiting = start_takes(limit, 3);
    for (int each = 0; each < 20; ++each) {
        other_.sql("CREATE TABLE IF NOT EXISTS t (v); INSERT INTO t VALUES (1)");
        db_.advance(1ms);
        EXPECT_FALSE(try_take(limit));
    }
    EXPECT_EQ(statements.count("BEGIN"), 0U);
    EXPECT_EQ(done(waiting), 0);
}

TEST_P(WaitingForAPermit, CostsOneLookAtMostForACommitOfAnotherProcess)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1000);
    other_.sql("CREATE TABLE t (v)");
    const statement_counter statements(db_.handle());
    tick(10);
    EXPECT_EQ(statements.count("_rate_limits"), 1U);
}

TEST_P(WaitingForAPermit, EndsWhenAnotherProgramTakesThePermitsBack)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    other_.sql("DELETE FROM _honker_rate_limits; DELETE FROM _skein_rate_limits");
    db_.advance(1ms);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(WaitingForAPermit, DoesNotEndWhenAnotherProcessWasFaster)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    support::manual_database second(db_.path(), support::manual_database::quick(),
                                    db_.clock_to_share());
    db_.clock().advance(10s);
    EXPECT_TRUE(second.run(second.database()
                               .rate_limit("r", {.permits = 1, .per = 10s, .algorithm = GetParam()})
                               .try_take()));
    db_.settle();
    EXPECT_EQ(done(waiting), 0);
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(WaitingForAPermit, WaitsForTheLockToo)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    other_.sql("BEGIN IMMEDIATE");
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 0);
    other_.sql("COMMIT");
    tick(10);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(WaitingForAPermit, TellsOfATriggerThatIgnoresIt)
{
    const rate_limit limit = make_empty();
    other_.sql("CREATE TRIGGER a BEFORE INSERT ON _honker_rate_limits"
               " BEGIN SELECT RAISE(IGNORE); END;"
               "CREATE TRIGGER b BEFORE INSERT ON _skein_rate_limits"
               " BEGIN SELECT RAISE(IGNORE); END");
    db_.advance(10s);
    auto waiting = db_.start(limit.take());
    db_.settle();
    EXPECT_EQ(waiting.error(), errc::storage_failure);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, WaitingForAPermit,
                         ::testing::ValuesIn(support::both_algorithms), support::algorithm_name);

} // namespace
