#include "store/error.hpp"
#include "store/family_file.hpp"
#include "store/rate_limit/paced_limits.hpp"
#include "store/rate_limit/rate_limit_schema.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t now = 1000 * second;
constexpr std::int64_t all = -1;
constexpr std::int64_t most_negative = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_positive = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t year = 31'557'600 * second;

class PacedLimits : public testing::Test {
protected:
    bool try_take(const pace& wanted, std::int64_t time = now, std::string_view name = "r")
    {
        const std::int64_t forecast = limits_.look(name, wanted, time).free_at;
        const permit_attempt attempt =
            tables_.write([&] { return limits_.try_take(name, wanted, time); });
        if (!attempt.is_taken) {
            EXPECT_EQ(attempt.free_at, forecast);
        }
        EXPECT_EQ(attempt.is_taken, forecast == time);
        next_ = attempt.free_at;
        return attempt.is_taken;
    }

    /// How many permits there are at this moment, which it takes; at most a hundred.
    int take_all(const pace& wanted, std::int64_t time = now)
    {
        int count = 0;
        while (count < 100 && try_take(wanted, time)) {
            ++count;
        }
        return count;
    }

    std::int64_t sweep(std::int64_t most, std::int64_t time = now)
    {
        return tables_.write([&] { return limits_.sweep(most, time); });
    }

    void store(const std::string& arrival)
    {
        tables_.file().sql("REPLACE INTO _skein_rate_limits VALUES ('r', " + arrival + ")");
    }

    [[nodiscard]] std::vector<std::string> rows() const
    {
        return tables_.file().sql("SELECT name, arrival FROM _skein_rate_limits ORDER BY name");
    }

    skein::support::temporary_directory directory_;
    family_file tables_{directory_ / "test.db", rate_limit_tables()};
    paced_limits limits_{tables_.connection()};
    std::int64_t next_ = 0;
};

TEST_F(PacedLimits, GiveOnePermitAtATime)
{
    const pace wanted{.permits = 4, .per = second};
    EXPECT_TRUE(try_take(wanted));
    EXPECT_EQ(next_, now + second / 4);
    EXPECT_FALSE(try_take(wanted));
    EXPECT_EQ(next_, now + second / 4);
    EXPECT_FALSE(try_take(wanted, now + second / 4 - 1));
    EXPECT_TRUE(try_take(wanted, now + second / 4));
}

TEST_F(PacedLimits, SaveUpABurstAndNoMore)
{
    const pace wanted{.permits = 1, .per = second, .burst = 3};
    EXPECT_EQ(take_all(wanted), 3);
    EXPECT_EQ(next_, now + second);
    EXPECT_EQ(take_all(wanted, now + 2 * second), 2);
    EXPECT_EQ(take_all(wanted, now + 100 * second), 3);
}

TEST_F(PacedLimits, TellWhenTheNextPermitIsFreeWhileThereIsOne)
{
    const pace wanted{.permits = 1, .per = second, .burst = 3};
    EXPECT_TRUE(try_take(wanted));
    EXPECT_EQ(next_, now);
}

TEST_F(PacedLimits, KeepNamesApart)
{
    EXPECT_TRUE(try_take({}, now, ""));
    EXPECT_TRUE(try_take({}, now, "another"));
    EXPECT_FALSE(try_take({}, now, ""));
}

TEST_F(PacedLimits, NeverGiveMoreForTheSakeOfRounding)
{
    const pace wanted{.permits = 3, .per = 10};
    EXPECT_TRUE(try_take(wanted));
    EXPECT_EQ(next_, now + 4);
    const pace fastest{.permits = most_positive, .per = 1};
    EXPECT_TRUE(try_take(fastest, now, "fast"));
    EXPECT_FALSE(try_take(fastest, now, "fast"));
    EXPECT_TRUE(try_take(fastest, now + 1, "fast"));
}

TEST_F(PacedLimits, WriteNothingWhenThereIsNoPermit)
{
    EXPECT_TRUE(try_take({}));
    const auto before = rows();
    EXPECT_FALSE(try_take({}));
    EXPECT_EQ(rows(), before);
}

TEST_F(PacedLimits, AreNotFrozenByAClockThatIsSetBack)
{
    const pace wanted{.permits = 1, .per = second, .burst = 3};
    EXPECT_EQ(take_all(wanted), 3);
    constexpr std::int64_t past = now - 1000 * second;
    EXPECT_FALSE(try_take(wanted, past));
    EXPECT_EQ(next_, past + second);
    EXPECT_FALSE(try_take(wanted, past + second - 1));
    EXPECT_EQ(next_, past + second);
    EXPECT_EQ(take_all(wanted, past + second), 1);
    EXPECT_EQ(take_all(wanted, past + 3 * second), 2);
}

TEST_F(PacedLimits, GainNothingFromAClockThatIsSetBackAgainAndAgain)
{
    EXPECT_EQ(take_all({}), 1);
    int taken = 0;
    for (int each = 1; each <= 10; ++each) {
        taken += take_all({}, now - each * 10 * second);
    }
    EXPECT_EQ(taken, 0);
}

TEST_F(PacedLimits, KeepACountThatAClockThatWasSetBackALittleCouldHaveMade)
{
    const pace wanted{.permits = 1, .per = second, .burst = 3};
    EXPECT_TRUE(try_take(wanted));
    EXPECT_EQ(take_all(wanted, now - second), 1);
}

TEST_F(PacedLimits, PullBackWhatNoPaceOfTheirsCouldHaveStored)
{
    for (const char* const far : {"9223372036854775807", "5000000000000", "1e300"}) {
        store(far);
        const permit_forecast before = limits_.look("r", {}, now);
        EXPECT_EQ(before.free_at, now + second);
        EXPECT_TRUE(before.must_pull_back);
        EXPECT_FALSE(try_take({}));
        EXPECT_THAT(rows(), ElementsAre("r|" + std::to_string(now + second)));
        EXPECT_TRUE(try_take({}, now + second));
    }
}

TEST_F(PacedLimits, TellByALookThatSomethingHasToBePulledBackUntilItIs)
{
    EXPECT_FALSE(limits_.look("r", {}, now).must_pull_back) << "nobody has used it";
    EXPECT_TRUE(try_take({}));
    EXPECT_FALSE(limits_.look("r", {}, now).must_pull_back);
    EXPECT_TRUE(limits_.look("r", {}, now - 1).must_pull_back);
    EXPECT_EQ(limits_.look("r", {}, now - 1).free_at, now - 1 + second);
    EXPECT_FALSE(try_take({}, now - 1));
    EXPECT_FALSE(limits_.look("r", {}, now - 1).must_pull_back);
}

TEST_F(PacedLimits, TellWhetherATryHasPulledSomethingBack)
{
    const auto attempt = [&](std::int64_t time) {
        return tables_.write([&] { return limits_.try_take("r", {}, time); });
    };
    EXPECT_FALSE(attempt(now).is_pulled_back);
    EXPECT_FALSE(attempt(now).is_pulled_back);
    EXPECT_TRUE(attempt(now - second).is_pulled_back);
    EXPECT_FALSE(attempt(now - second).is_pulled_back);
    EXPECT_FALSE(attempt(now).is_pulled_back);
}

TEST_F(PacedLimits, TellOfATriggerThatIgnoresAPermit)
{
    tables_.file().sql("CREATE TRIGGER t BEFORE INSERT ON _skein_rate_limits"
                       " BEGIN SELECT RAISE(IGNORE); END");
    EXPECT_THROW(try_take({}), skein::sqlite::error);
}

TEST_F(PacedLimits, TakeWhatIsLongPastOrNoTimeForUnused)
{
    const pace wanted{.permits = 1, .per = second, .burst = 3};
    for (const char* const past : {"-9223372036854775808", "0", "'soon'", "-1e300", "x'00'"}) {
        store(past);
        EXPECT_EQ(take_all(wanted), 3) << past;
    }
}

TEST_F(PacedLimits, OfTwoPacesKeepToEach)
{
    const pace slow{.permits = 1, .per = 3600 * second};
    EXPECT_TRUE(try_take(slow));
    EXPECT_FALSE(try_take({}));
    EXPECT_EQ(next_, now + second);
    EXPECT_TRUE(try_take({}, now + second));
    EXPECT_FALSE(try_take(slow, now + second));
}

TEST_F(PacedLimits, StayInTheRangeOfTimes)
{
    for (const std::int64_t per : {200 * year, most_positive}) {
        for (const std::int64_t time : {now, std::int64_t{0}, -now, most_negative, most_positive}) {
            const std::string name = std::to_string(per) + " " + std::to_string(time);
            const pace wanted{.permits = 1, .per = per};
            EXPECT_TRUE(limits_.try_take(name, wanted, time).is_taken);
            const permit_attempt again = limits_.try_take(name, wanted, time);
            EXPECT_FALSE(again.is_taken);
            EXPECT_GE(again.free_at, std::min(time, 100'000 * (year / 2)));
        }
    }
    const pace centuries{.permits = 1, .per = 200 * year};
    EXPECT_TRUE(try_take(centuries, now, "centuries"));
    EXPECT_EQ(next_, now + 200 * year);
}

TEST_F(PacedLimits, HaveABurstThatIsFinitelyManyHoweverLongItTakesToCome)
{
    EXPECT_EQ(take_all({.permits = 1, .per = most_positive, .burst = 5}), 5);
    tables_.file().sql("DELETE FROM _skein_rate_limits");
    EXPECT_EQ(take_all({.permits = 1, .per = second, .burst = most_positive}), 100);
}

TEST_F(PacedLimits, AreRefusedUnlessPositive)
{
    EXPECT_NO_THROW(require_pace({}));
    for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{-1}, most_negative}) {
        EXPECT_THROW(require_pace({.permits = wrong}), invalid_argument);
        EXPECT_THROW(require_pace({.per = wrong}), invalid_argument);
        EXPECT_THROW(require_pace({.burst = wrong}), invalid_argument);
    }
}

TEST_F(PacedLimits, AreSweptWhenTheyHaveAllOfTheirBurst)
{
    const pace wanted{.permits = 1, .per = second, .burst = 3};
    for (const char* const each : {"a", "b", "c"}) {
        try_take(wanted, now, each);
    }
    try_take(wanted, now, "c");
    EXPECT_EQ(sweep(all, now + second - 1), 0);
    EXPECT_EQ(sweep(1, now + second), 1);
    EXPECT_EQ(sweep(5, now + second), 1);
    EXPECT_THAT(rows(), ElementsAre("c|" + std::to_string(now + 2 * second)));
    EXPECT_EQ(sweep(all, most_negative), 0);
    EXPECT_EQ(sweep(all, most_positive), 1);
    EXPECT_THAT(rows(), IsEmpty());
}

/// The same as a bucket that fills up, which is another way to tell it: while the clock goes on.
TEST(PacedLimitModel, AndABucketDoTheSame)
{
    for (unsigned seed = 1; seed <= 4; ++seed) {
        const skein::support::temporary_directory directory;
        family_file tables(directory / "test.db", rate_limit_tables());
        paced_limits limits(tables.connection());
        std::mt19937 chance(seed);
        const auto pick = [&](std::int64_t count) {
            return static_cast<std::int64_t>(chance()) % count;
        };
        const pace wanted{.permits = 1, .per = 1 + pick(9), .burst = 1 + pick(5)};
        std::int64_t fill = wanted.per * wanted.burst;
        std::int64_t time = now;
        for (int turn = 0; turn < 2000; ++turn) {
            if (pick(50) == 0) {
                limits.sweep(all, time);
            }
            const bool has_permit = fill >= wanted.per;
            const std::int64_t next = has_permit ? time : time + wanted.per - fill;
            ASSERT_EQ(limits.look("r", wanted, time).free_at, next) << "in step " << turn;
            ASSERT_EQ(limits.try_take("r", wanted, time).is_taken, has_permit);
            fill -= has_permit ? wanted.per : 0;
            const std::int64_t passed = pick(wanted.per * (pick(9) == 0 ? 9 : 2));
            time += passed;
            fill = std::min(fill + passed, wanted.per * wanted.burst);
        }
    }
}

/// However the clock jumps: who waits as long as told gets a permit.
TEST(PacedLimitModel, GivesAPermitAtTheTimeItHasTold)
{
    for (unsigned seed = 1; seed <= 4; ++seed) {
        const skein::support::temporary_directory directory;
        family_file tables(directory / "test.db", rate_limit_tables());
        paced_limits limits(tables.connection());
        std::mt19937_64 chance(seed);
        for (int turn = 0; turn < 1000; ++turn) {
            const auto any = [&] { return static_cast<std::int64_t>(chance()) >> (chance() % 63); };
            const auto positive = [&] { return std::max<std::int64_t>(1, any()); };
            const pace wanted{.permits = positive(), .per = positive(), .burst = positive()};
            const std::int64_t time = any();
            const permit_attempt attempt = limits.try_take("r", wanted, time);
            if (!attempt.is_taken && time < most_positive / 2) {
                ASSERT_GT(attempt.free_at, time);
                ASSERT_TRUE(limits.try_take("r", wanted, attempt.free_at).is_taken) << turn;
            }
        }
    }
}

} // namespace
