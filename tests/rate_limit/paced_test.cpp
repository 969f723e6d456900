#include "rate_limit/rate_limit_fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <random>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;

class Paced : public support::rate_limit_fixture {};

TEST_F(Paced, GivesPermitsOneAtATime)
{
    const rate_limit limit = paced(4, 10s);
    EXPECT_EQ(take_all(limit), 1);
    db_.advance(2500ms - 1us);
    EXPECT_EQ(take_all(limit), 0);
    db_.advance(1us);
    EXPECT_EQ(take_all(limit), 1);
    EXPECT_THAT(paced_rows(), ElementsAre("r|105000000"));
}

TEST_F(Paced, GivesNoTwoBurstsAtTheEdgeOfAWindow)
{
    const rate_limit limit = paced(10, 10s, 10);
    db_.advance(9999ms);
    EXPECT_EQ(take_all(limit), 10);
    db_.advance(1ms);
    EXPECT_EQ(take_all(limit), 0);
    db_.advance(1s);
    EXPECT_EQ(take_all(limit), 1);
}

TEST_F(Paced, SavesUpABurstAndNoMore)
{
    const rate_limit limit = paced(1, 1s, 3);
    EXPECT_EQ(take_all(limit), 3);
    db_.advance(2s);
    EXPECT_EQ(take_all(limit), 2);
    db_.advance(1h);
    EXPECT_EQ(take_all(limit), 3);
}

TEST_F(Paced, SavesUpOneWhenNoBurstIsGiven)
{
    const rate_limit limit = db_.database().rate_limit(
        "r", {.permits = 10, .per = 10s, .algorithm = rate_limit_algorithm::paced});
    db_.advance(1h);
    EXPECT_EQ(take_all(limit), 1);
}

TEST_F(Paced, GivesOneAfterTheOtherToThoseWhoWait)
{
    const rate_limit limit = paced(10, 1s);
    const waits waiting = start_takes(limit, 50);
    EXPECT_EQ(done(waiting), 1);
    for (int each = 2; each <= 50; ++each) {
        db_.advance(100ms - 1us);
        EXPECT_EQ(done(waiting), each - 1);
        db_.advance(1us);
        EXPECT_EQ(done(waiting), each);
    }
}

TEST_F(Paced, GivesABurstToThoseWhoWait)
{
    const rate_limit limit = paced(1, 1s, 5);
    EXPECT_EQ(done(start_takes(limit, 9)), 5);
}

// A third of a second is no whole number of microseconds, and the clock counts nanoseconds.
TEST_F(Paced, WakesNobodyBeforeThereIsAPermitNorAnyLater)
{
    const rate_limit limit = paced(3, 1s);
    db_.advance(123456789ns);
    EXPECT_EQ(take_all(limit), 1);
    const waits waiting = start_takes(limit, 1);
    const support::statement_counter statements(db_.handle());
    // The row holds 100.123456 s, and a third, rounded up: 100.456790 s.
    db_.advance(456790000ns - 123456789ns - 1ns);
    EXPECT_EQ(done(waiting), 0);
    EXPECT_EQ(statements.count("_skein_rate_limits"), 0U);
    db_.advance(1ns);
    EXPECT_EQ(done(waiting), 1);
    EXPECT_EQ(statements.count("FROM _skein_rate_limits"), 2U) << "a look and a try";
}

TEST_F(Paced, LetsThoseOfASlowerPaceLookWhenAFasterOneHasPulledBack)
{
    const rate_limit slow = paced(1, 1h);
    EXPECT_TRUE(try_take(slow));
    const waits waiting = start_takes(slow, 1);
    EXPECT_FALSE(try_take(paced(1, 10s))) << "stored too far ahead for it";
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 1);
}

/// In no stretch of the length `per` are more taken than `permits` and the burst; and as many as a
/// bucket gives that is filled by a drop for each moment.
class PacedModel : public Paced, public ::testing::WithParamInterface<unsigned> {
protected:
    [[nodiscard]] std::int64_t pick(std::int64_t count)
    {
        return static_cast<std::int64_t>(chance_()) % count;
    }

    std::mt19937 chance_{GetParam()};
};

TEST_P(PacedModel, GivesWhatABucketGives)
{
    const std::int64_t permits = 1 + pick(9);
    const std::int64_t burst = 1 + pick(5);
    const std::chrono::seconds per{1 + pick(4)};
    const rate_limit limit = paced(permits, per, burst);
    const std::int64_t drop = (std::chrono::microseconds(per).count() - 1) / permits + 1;
    std::int64_t fill = drop * burst;
    std::int64_t now = 0;
    std::vector<std::int64_t> taken;
    for (int turn = 0; turn < 400; ++turn) {
        const bool has_permit = fill >= drop;
        ASSERT_EQ(try_take(limit), has_permit) << "in turn " << turn;
        if (has_permit) {
            fill -= drop;
            taken.push_back(now);
        }
        const std::int64_t passed = pick(pick(20) == 0 ? 20 * drop : drop);
        db_.advance(std::chrono::microseconds(passed));
        now += passed;
        fill = std::min(fill + passed, drop * burst);
    }
    for (auto first = taken.begin(); first != taken.end(); ++first) {
        const std::int64_t end = *first + std::chrono::microseconds(per).count();
        ASSERT_LE(std::lower_bound(first, taken.end(), end) - first, permits + burst - 1);
    }
}

TEST_P(PacedModel, GivesThoseWhoWaitNoMoreThanThatAndNoLater)
{
    const std::int64_t permits = 1 + pick(9);
    const std::int64_t burst = 1 + pick(5);
    const rate_limit limit = paced(permits, 1s, burst);
    const std::int64_t drop = 999'999 / permits + 1;
    const waits waiting = start_takes(limit, 60);
    for (std::int64_t now = 0; now < 2'000'000; now += 10'000) {
        ASSERT_EQ(done(waiting), std::min<std::int64_t>(60, burst + now / drop)) << now;
        db_.advance(10ms);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PacedModel, ::testing::Range(1U, 9U));

} // namespace
