#include "store/error.hpp"
#include "store/family_file.hpp"
#include "store/rate_limit/rate_limit_schema.hpp"
#include "store/rate_limit/rate_limits.hpp"
#include "store/saturating.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t now = 1003;
constexpr std::int64_t all = -1;
constexpr std::int64_t most_negative = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_positive = std::numeric_limits<std::int64_t>::max();

class RateLimits : public testing::Test {
protected:
    bool try_take(std::int64_t limit, std::int64_t per, std::int64_t time = now,
                  std::string_view name = "r")
    {
        return tables_.write([&] { return limits_.try_take(name, limit, per, time); });
    }

    std::int64_t sweep(std::int64_t older_than, std::int64_t most = all, std::int64_t time = now)
    {
        return tables_.write([&] { return limits_.sweep(older_than, most, time); });
    }

    [[nodiscard]] std::vector<std::string> rows() const
    {
        return tables_.file().sql("SELECT name, window_start, count FROM _honker_rate_limits"
                                  " ORDER BY name, window_start");
    }

    skein::support::temporary_directory directory_;
    family_file tables_{directory_ / "test.db", rate_limit_tables()};
    rate_limits limits_{tables_.connection()};
};

TEST_F(RateLimits, TellOfATriggerThatIgnoresAPermit)
{
    tables_.file().sql("CREATE TRIGGER t BEFORE INSERT ON _honker_rate_limits"
                       " BEGIN SELECT RAISE(IGNORE); END");
    EXPECT_THROW(try_take(2, 10), skein::sqlite::error);
}

TEST_F(RateLimits, CountInWindowsFromTheEpochOn)
{
    EXPECT_TRUE(try_take(2, 10));
    EXPECT_TRUE(try_take(2, 10, 1009));
    EXPECT_FALSE(try_take(2, 10, 1009));
    EXPECT_TRUE(try_take(2, 10, 1010));
    EXPECT_THAT(rows(), ElementsAre("r|1000|2", "r|1010|1"));
}

TEST_F(RateLimits, WriteNothingWhenThereIsNoPermit)
{
    EXPECT_TRUE(try_take(1, 10));
    EXPECT_FALSE(try_take(1, 10));
    EXPECT_FALSE(try_take(1, 10));
    EXPECT_THAT(rows(), ElementsAre("r|1000|1"));
}

TEST_F(RateLimits, OfOneNameShareTheirCountWhereTheirWindowsBeginTogether)
{
    EXPECT_TRUE(try_take(2, 10));
    EXPECT_TRUE(try_take(2, 500));
    EXPECT_FALSE(try_take(2, 10));
    EXPECT_TRUE(try_take(2, 7));
    EXPECT_TRUE(try_take(3, 10));
    EXPECT_TRUE(try_take(2, 10, now, "another"));
    EXPECT_THAT(rows(), ElementsAre("another|1000|1", "r|1000|3", "r|1001|1"));
}

TEST_F(RateLimits, TellWhenTheNextPermitIsFree)
{
    EXPECT_EQ(limits_.next_free("r", 1, 10, now), now);
    try_take(1, 10);
    EXPECT_EQ(limits_.next_free("r", 1, 10, now), 1010);
    EXPECT_EQ(limits_.next_free("r", 2, 10, now), now);
    EXPECT_EQ(limits_.next_free("r", 1, 10, 1010), 1010);
    EXPECT_TRUE(try_take(1, 10, 1010));
}

TEST_F(RateLimits, CountBeforeTheEpochAsOthersDo)
{
    for (const std::int64_t time : {-1, -9, -10, -11, -20}) {
        try_take(1, 10, time);
        const std::int64_t next = limits_.next_free("r", 1, 10, time);
        EXPECT_FALSE(try_take(1, 10, next - 1)) << time;
        EXPECT_EQ(limits_.next_free("r", 9, 10, next), next);
    }
    EXPECT_THAT(rows(), ElementsAre("r|-20|1", "r|-10|1", "r|0|1"));
    EXPECT_EQ(limits_.next_free("r", 1, 10, -20), -19);
    EXPECT_EQ(limits_.next_free("r", 1, 10, -5), 10);
}

TEST_F(RateLimits, StayInTheRangeOfTimes)
{
    EXPECT_TRUE(try_take(most_positive, most_positive, most_positive));
    EXPECT_TRUE(try_take(1, most_positive, most_negative + 1));
    EXPECT_TRUE(try_take(1, 1, most_negative));
    EXPECT_TRUE(try_take(1, 10, most_positive));
    EXPECT_EQ(limits_.next_free("r", 1, 10, most_positive), most_positive);
    EXPECT_EQ(limits_.next_free("r", 1, most_positive, most_positive), most_positive);
    EXPECT_EQ(limits_.next_free("r", 1, 1, most_negative), most_negative + 1);
}

TEST_F(RateLimits, AreRefusedUnlessPositive)
{
    EXPECT_NO_THROW(require_rate_limit(1, 1));
    for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{-1}, most_negative}) {
        EXPECT_THROW(require_rate_limit(wrong, 1), invalid_argument);
        EXPECT_THROW(require_rate_limit(1, wrong), invalid_argument);
    }
    try {
        require_rate_limit(0, 5);
    } catch (const invalid_argument& error) {
        EXPECT_STREQ(error.what(), "limit and per must be positive, got 0 and 5");
    }
}

TEST_F(RateLimits, AreNotFrozenByAClockThatIsSetBack)
{
    EXPECT_TRUE(try_take(1, 10, 5000));
    EXPECT_TRUE(try_take(1, 10, 1000));
    EXPECT_FALSE(try_take(1, 10, 1001));
    EXPECT_TRUE(try_take(1, 10, 1010));
}

TEST_F(RateLimits, OfAnotherProgramMayHaveCountedAnything)
{
    tables_.file().sql("INSERT INTO _honker_rate_limits VALUES ('r', 1000, 'many'),"
                       " ('r', 1010, -1), ('r', 1020, 9223372036854775807), ('r', 1030, 0.5)");
    EXPECT_FALSE(try_take(most_positive, 10, 1000));
    EXPECT_EQ(limits_.next_free("r", most_positive, 10, 1000), 1010);
    EXPECT_TRUE(try_take(1, 10, 1010));
    EXPECT_TRUE(try_take(1, 10, 1010));
    EXPECT_FALSE(try_take(most_positive, 10, 1020));
    EXPECT_TRUE(try_take(1, 10, 1030));
    EXPECT_FALSE(try_take(1, 10, 1030));
}

TEST_F(RateLimits, AreSweptByAgeInSlices)
{
    for (int each = 0; each < 5; ++each) {
        try_take(1, 10, 1000 + 10 * each, each % 2 == 0 ? "r" : "another");
    }
    EXPECT_EQ(sweep(50, all, 1050), 0);
    EXPECT_EQ(sweep(20, 2, 1050), 2);
    EXPECT_EQ(sweep(20, 2, 1050), 1);
    EXPECT_EQ(sweep(20, 2, 1050), 0);
    EXPECT_THAT(rows(), ElementsAre("another|1030|1", "r|1040|1"));
    EXPECT_EQ(sweep(most_positive), 0);
    EXPECT_EQ(sweep(0, all, 1041), 2);
}

TEST_F(RateLimits, AreSweptWithinTheRangeOfTimes)
{
    try_take(1, 10);
    EXPECT_EQ(sweep(most_positive, all, most_negative), 0);
    EXPECT_EQ(sweep(most_negative, 0), 0);
    EXPECT_EQ(sweep(most_negative), 1);
    EXPECT_THAT(rows(), IsEmpty());
}

TEST(Saturating, DifferencesStopAtTheEndsOfTheRange)
{
    EXPECT_EQ(saturating_subtract(5, 7), -2);
    EXPECT_EQ(saturating_subtract(0, most_negative), most_positive);
    EXPECT_EQ(saturating_subtract(-1, most_negative), most_positive);
    EXPECT_EQ(saturating_subtract(-2, most_positive), most_negative);
    EXPECT_EQ(saturating_subtract(most_negative, most_negative), 0);
    EXPECT_EQ(saturating_subtract(most_positive, most_positive), 0);
}

class RateLimitModel : public RateLimits, public testing::WithParamInterface<unsigned> {
protected:
    std::int64_t pick(std::int64_t count) { return static_cast<std::int64_t>(chance_()) % count; }

    void step()
    {
        const std::int64_t limit = 1 + pick(4);
        const std::int64_t per = 1 + pick(5);
        const std::string name = "r" + std::to_string(pick(2));
        if (pick(20) == 0) {
            const std::int64_t older = pick(12);
            ASSERT_EQ(sweep(older, all, time_), std::erase_if(counts_, [&](const auto& each) {
                          return each.first.second < time_ - older;
                      }));
        }
        std::int64_t& count = counts_[{name, time_ / per * per}];
        ASSERT_EQ(limits_.next_free(name, limit, per, time_),
                  count < limit ? time_ : (time_ / per + 1) * per);
        ASSERT_EQ(try_take(limit, per, time_, name), count < limit);
        count += count < limit ? 1 : 0;
        time_ += pick(3) - (pick(8) == 0 ? 3 : 0);
    }

    [[nodiscard]] std::vector<std::string> expected_rows() const
    {
        std::vector<std::string> texts;
        for (const auto& [key, count] : counts_) {
            texts.push_back(key.first + "|" + std::to_string(key.second) + "|" +
                            std::to_string(count));
        }
        return texts;
    }

    std::mt19937 chance_{GetParam()};
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> counts_;
    std::int64_t time_ = 100;
};

TEST_P(RateLimitModel, AndStoreDoTheSame)
{
    for (int turn = 0; turn < 1000; ++turn) {
        step();
        ASSERT_EQ(rows(), expected_rows()) << "in step " << turn;
        ASSERT_FALSE(HasFailure()) << "in step " << turn;
    }
}

INSTANTIATE_TEST_SUITE_P(FromManySeeds, RateLimitModel, testing::Range(1U, 5U));

} // namespace
