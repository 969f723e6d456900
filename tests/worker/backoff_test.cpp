#include <skein/backoff.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

namespace {

using namespace std::chrono_literals;
using skein::backoff;
using skein::duration;

constexpr std::int64_t last_attempt = std::numeric_limits<std::int64_t>::max();

TEST(Backoff, DoublesFromAttemptToAttemptUpToItsMost)
{
    constexpr backoff pauses{.first = 2s, .most = 15s};
    EXPECT_EQ(pauses.cap(1), 2s);
    EXPECT_EQ(pauses.cap(2), 4s);
    EXPECT_EQ(pauses.cap(3), 8s);
    EXPECT_EQ(pauses.cap(4), 15s);
    EXPECT_EQ(pauses.cap(5), 15s);
    EXPECT_EQ(pauses.cap(last_attempt), 15s);
}

TEST(Backoff, IsRightForNumbersThatNoAttemptHas)
{
    constexpr backoff pauses{.first = 2s, .most = 15s};
    EXPECT_EQ(pauses.cap(0), 2s);
    EXPECT_EQ(pauses.cap(-1), 2s);
    EXPECT_EQ(pauses.cap(std::numeric_limits<std::int64_t>::min()), 2s);
}

TEST(Backoff, IsAnythingUpToTheLongestPause)
{
    constexpr backoff pauses{.first = 2s, .most = 15s};
    EXPECT_EQ(pauses.delay(3, 0), 0s);
    EXPECT_EQ(pauses.delay(3, 0.25), 2s);
    EXPECT_EQ(pauses.delay(3, 1), 8s);
    EXPECT_EQ(pauses.delay(3, -1), 0s);
    EXPECT_EQ(pauses.delay(3, 7), 8s);
}

TEST(Backoff, NeverShrinksNorOverflows)
{
    for (const backoff& pauses : {backoff{}, backoff{.first = 1ns, .most = duration::max()},
                                  backoff{.first = 1h, .most = 24h * 365 * 100}}) {
        duration last{0};
        for (std::int64_t attempt = 1; attempt < 10'000; ++attempt) {
            const duration cap = pauses.cap(attempt);
            ASSERT_GE(cap, last) << attempt;
            ASSERT_LE(cap, pauses.most) << attempt;
            ASSERT_TRUE(std::isfinite(cap.count())) << attempt;
            last = cap;
        }
        EXPECT_EQ(last, pauses.most);
        EXPECT_EQ(pauses.cap(last_attempt), pauses.most);
        EXPECT_EQ(pauses.delay(last_attempt, 1), pauses.most);
    }
}

TEST(Backoff, OfZeroIsNoPauseAtAll)
{
    constexpr backoff none{.first = 0s, .most = 1h};
    EXPECT_EQ(none.delay(1, 1), 0s);
    EXPECT_EQ(none.delay(last_attempt, 1), 0s);
}

} // namespace
