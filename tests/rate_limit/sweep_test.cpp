#include "rate_limit/rate_limit_fixture.hpp"

#include <asio/error.hpp>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RateLimitSweep : public support::rate_limit_fixture {
protected:
    std::size_t sweep(std::chrono::seconds older_than)
    {
        return db_.run(db_.database().sweep_rate_limits(older_than));
    }

    /// Windows of other programs that began at 1 s, 2 s, and so on.
    void leave_windows(int count)
    {
        other_.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                   std::to_string(count) +
                   ") INSERT INTO _honker_rate_limits SELECT 'old ' || i, i % 50, 1 FROM n");
    }

    void leave_paced(int count)
    {
        other_.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                   std::to_string(count) +
                   ") INSERT INTO _skein_rate_limits SELECT 'old ' || i, i FROM n");
    }
};

TEST_F(RateLimitSweep, OfAFileWithoutTablesForgetsNothing)
{
    EXPECT_EQ(sweep(1s), 0U);
}

TEST_F(RateLimitSweep, ForgetsWindowsThatBeganLongerAgo)
{
    const rate_limit limit = windows(1, 10s);
    EXPECT_TRUE(try_take(limit));
    db_.advance(10s);
    EXPECT_TRUE(try_take(limit));
    db_.advance(10s);
    EXPECT_EQ(sweep(20s), 0U);
    EXPECT_EQ(sweep(19s), 1U);
    EXPECT_THAT(window_rows(), ElementsAre("r|110|1"));
}

TEST_F(RateLimitSweep, ForgetsPacedLimitsThatHaveAllOfTheirBurst)
{
    EXPECT_TRUE(try_take(paced(1, 10s, 3, "idle")));
    EXPECT_EQ(take_all(paced(1, 10s, 3, "busy")), 3);
    db_.advance(10s - 1us);
    EXPECT_EQ(sweep(0s), 0U);
    db_.advance(1us);
    EXPECT_EQ(sweep(1h), 1U) << "the age is of windows";
    EXPECT_THAT(paced_rows(), ElementsAre("busy|130000000"));
}

TEST_F(RateLimitSweep, OfPacedLimitsGivesNoPermitAway)
{
    const rate_limit limit = paced(1, 10s);
    EXPECT_TRUE(try_take(limit));
    sweep(0s);
    EXPECT_FALSE(try_take(limit));
}

TEST_F(RateLimitSweep, ForgetsTheWindowOfNowWhenItIsOldEnough)
{
    db_.advance(5s);
    const rate_limit limit = windows(1, 10s);
    EXPECT_TRUE(try_take(limit));
    const waits waiting = start_takes(limit, 2);
    EXPECT_EQ(sweep(0s), 1U);
    EXPECT_EQ(done(waiting), 1) << "its permit can be taken once more";
}

TEST_F(RateLimitSweep, WorksInSlices)
{
    EXPECT_TRUE(try_take(windows(1, 10s)));
    leave_windows(1200);
    leave_paced(1001);
    const statement_counter statements(db_.handle());
    EXPECT_EQ(sweep(50s), 2201U);
    EXPECT_EQ(statements.count("DELETE FROM _honker_rate_limits"), 3U);
    EXPECT_EQ(statements.count("DELETE FROM _skein_rate_limits"), 3U);
    EXPECT_EQ(statements.count("COMMIT"), 6U);
    EXPECT_THAT(window_rows(), ElementsAre("r|100|1"));
    EXPECT_THAT(paced_rows(), IsEmpty());
}

TEST_F(RateLimitSweep, CanBeCancelledBetweenSlices)
{
    EXPECT_TRUE(try_take(windows(1, 10s)));
    leave_windows(1200);
    auto sweeping = db_.start(db_.database().sweep_rate_limits(50s));
    sweeping.cancel();
    db_.settle();
    EXPECT_EQ(sweeping.error(), asio::error::operation_aborted);
    EXPECT_EQ(other_.value("SELECT count(*) FROM _honker_rate_limits"), "1201");
}

TEST_F(RateLimitSweep, OfANegativeAgeIsRefusedByTheCall)
{
    for (const auto age : {-1s, std::chrono::seconds::min()}) {
        try {
            static_cast<void>(db_.database().sweep_rate_limits(age));
            ADD_FAILURE() << "accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
        }
    }
}

TEST_F(RateLimitSweep, OfTheLongestAgeForgetsNoWindow)
{
    EXPECT_TRUE(try_take(windows(1, 10s)));
    leave_windows(10);
    EXPECT_EQ(sweep(std::chrono::seconds::max()), 0U);
}

} // namespace
