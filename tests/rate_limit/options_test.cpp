#include "rate_limit/rate_limit_fixture.hpp"

#include <skein/schema.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::HasSubstr;

// They may be given as temporaries inside a co_await.
static_assert(std::is_trivially_destructible_v<rate_limit_options>);
static_assert(std::is_trivially_destructible_v<rate_limit_sweep_options>);
static_assert(std::is_nothrow_move_constructible_v<rate_limit>);

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

class RateLimitOptions : public support::each_rate_limit {
protected:
    void expect_refused(const rate_limit_options& options, const char* argument)
    {
        try {
            static_cast<void>(db_.database().rate_limit("r", options));
            ADD_FAILURE() << argument << " was accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
            EXPECT_THAT(refused.what(), HasSubstr(argument));
            EXPECT_THAT(refused.what(), HasSubstr("accept"));
        }
    }

    rate_limit_options good() const { return {.permits = 1, .per = 10s, .algorithm = GetParam()}; }
};

TEST_P(RateLimitOptions, AreRefusedByTheCallUnlessTheyArePositive)
{
    for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{-1}, -most}) {
        rate_limit_options options = good();
        options.permits = wrong;
        expect_refused(options, "permits");
        options = good();
        options.per = std::chrono::seconds{wrong};
        expect_refused(options, "per");
        options = good();
        options.burst = wrong;
        expect_refused(options, "burst");
    }
}

TEST_P(RateLimitOptions, HaveToBeGiven)
{
    expect_refused({.per = 1s, .algorithm = GetParam()}, "permits");
    expect_refused({.permits = 1, .algorithm = GetParam()}, "per");
}

TEST_P(RateLimitOptions, MayBeAsLargeAsOneLikes)
{
    for (const auto per :
         {1s, std::chrono::seconds{most / 1'000'000}, std::chrono::seconds::max()}) {
        for (const std::int64_t permits : {std::int64_t{1}, most}) {
            rate_limit_options options = good();
            options.permits = permits;
            options.per = per;
            const rate_limit limit = db_.database().rate_limit(
                std::to_string(permits) + ' ' + std::to_string(per.count()), options);
            EXPECT_TRUE(try_take(limit));
            auto waiting = db_.start(limit.take_within(2s));
            db_.settle();
            db_.advance(1s);
            db_.advance(1s);
            ASSERT_TRUE(waiting.is_done());
            EXPECT_EQ(waiting.result(), per == 1s || permits == most);
        }
    }
}

TEST_P(RateLimitOptions, MakeHandlesEqualThatHaveTheSame)
{
    const rate_limit limit = make();
    EXPECT_EQ(limit, make());
    const rate_limit copy = limit;
    EXPECT_EQ(limit, copy);
    EXPECT_NE(limit, make("another"));
    EXPECT_NE(limit, make("r", 2));
    rate_limit_options options = good();
    options.per = 11s;
    EXPECT_NE(limit, db_.database().rate_limit("r", options));
    EXPECT_NE(windows(1, 10s), paced(1, 10s));
    EXPECT_NE(paced(1, 10s, 1), paced(1, 10s, 2));
    support::manual_database second;
    EXPECT_NE(limit, second.database().rate_limit("r", good()));
}

TEST_P(RateLimitOptions, AndTheNameAreNeverTakenForOthers)
{
    // If the text of a line were made without care, these would be one.
    const rate_limit first = make("1:x");
    const rate_limit second = make("x");
    EXPECT_NE(first, second);
    EXPECT_TRUE(try_take(first));
    EXPECT_TRUE(try_take(second));
    EXPECT_EQ(make(std::string_view("a\0b", 3)).name(), std::string_view("a\0b", 3));
}

TEST_P(RateLimitOptions, OwnTheName)
{
    std::string name = "mails";
    const rate_limit limit = make(name);
    name = "other";
    EXPECT_EQ(limit.name(), "mails");
}

TEST_P(RateLimitOptions, CostNothingAndMakeNoTablesUntilTheFirstUse)
{
    const rate_limit limit = make();
    db_.settle();
    const std::string tables = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%rate_limit%'";
    EXPECT_EQ(other_.value(tables), "0");
    EXPECT_TRUE(try_take(limit));
    EXPECT_NE(other_.value(tables), "0");
}

TEST_P(RateLimitOptions, LeaveTheSchemaToSomebodyElseWhereThatIsWanted)
{
    rate_limit_options options = good();
    options.create_schema = false;
    const rate_limit limit = db_.database().rate_limit("r", options);
    auto take = db_.start(limit.take());
    auto attempt = db_.start(limit.try_take());
    auto sweep = db_.start(db_.database().sweep_rate_limits(1s, {.create_schema = false}));
    db_.settle();
    EXPECT_EQ(take.error(), errc::storage_failure);
    EXPECT_EQ(attempt.error(), errc::storage_failure);
    EXPECT_EQ(sweep.error(), errc::storage_failure);
    for (const std::string& each : schema::rate_limits()) {
        other_.sql(each);
    }
    EXPECT_TRUE(try_take(limit));
    EXPECT_FALSE(try_take(limit));
}

TEST_P(RateLimitOptions, DoNotWaitInOneLineWhenOneOfThemMakesTheTables)
{
    rate_limit_options options = good();
    options.create_schema = false;
    const rate_limit without = db_.database().rate_limit("r", options);
    auto first = db_.start(without.take());
    auto second = db_.start(make().take());
    db_.settle();
    EXPECT_EQ(first.error(), errc::storage_failure);
    EXPECT_TRUE(second.is_done());
    EXPECT_FALSE(second.has_failed());
}

INSTANTIATE_TEST_SUITE_P(Algorithms, RateLimitOptions,
                         ::testing::ValuesIn(support::both_algorithms), support::algorithm_name);

class RateLimitTables : public support::rate_limit_fixture {
protected:
    RateLimitTables()
    {
        other_.sql("CREATE TABLE _honker_rate_limits (name TEXT NOT NULL,"
                   " window_start INTEGER NOT NULL, count INTEGER NOT NULL DEFAULT 0,"
                   " PRIMARY KEY (name, window_start))");
    }
};

TEST_F(RateLimitTables, OfAnotherProgramAreGoodEnoughForWindows)
{
    const rate_limit limit =
        db_.database().rate_limit("r", {.permits = 1, .per = 10s, .create_schema = false});
    EXPECT_TRUE(try_take(limit));
    const waits waiting = start_takes(limit, 1);
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 1);
    db_.advance(100s);
    EXPECT_EQ(db_.run(db_.database().sweep_rate_limits(10s, {.create_schema = false})), 2U);
    EXPECT_EQ(other_.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '_skein%'"), "0");
}

TEST_F(RateLimitTables, OfAnotherProgramAreNotEnoughForPacedLimits)
{
    auto attempt = db_.start(db_.database()
                                 .rate_limit("r", {.permits = 1,
                                                   .per = 10s,
                                                   .algorithm = rate_limit_algorithm::paced,
                                                   .create_schema = false})
                                 .try_take());
    db_.settle();
    EXPECT_EQ(attempt.error(), errc::storage_failure);
}

TEST_F(RateLimitTables, OfAnotherProgramGetWhatIsMissing)
{
    EXPECT_TRUE(try_take(windows(1, 10s)));
    EXPECT_TRUE(try_take(paced(1, 10s)));
}

TEST_F(RateLimitTables, BurstIsForPacedOnesOnly)
{
    try {
        static_cast<void>(db_.database().rate_limit("r", {.permits = 1, .per = 10s, .burst = 1}));
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
        EXPECT_THAT(refused.what(), HasSubstr("burst"));
        EXPECT_THAT(refused.what(), HasSubstr("paced"));
    }
}

TEST_F(RateLimitTables, AlgorithmIsOneOfTheTwo)
{
    try {
        static_cast<void>(db_.database().rate_limit(
            "r", {.permits = 1, .per = 10s, .algorithm = static_cast<rate_limit_algorithm>(2)}));
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
        EXPECT_THAT(refused.what(), HasSubstr("algorithm"));
    }
}

} // namespace
