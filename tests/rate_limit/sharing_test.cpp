#include "rate_limit/rate_limit_fixture.hpp"
#include "support/other_process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using support::other_process;
using ::testing::ElementsAre;

/// Two databases on one file, whose time is the same.
class SharedPermits : public support::each_rate_limit {
protected:
    rate_limit make_there(std::string_view name = "r")
    {
        return second_.database().rate_limit(name,
                                             {.permits = 1, .per = 10s, .algorithm = GetParam()});
    }

    void pass(std::chrono::nanoseconds length)
    {
        db_.clock().advance(length);
        db_.settle();
        second_.settle();
        db_.settle();
    }

    manual_database second_{db_.path(), manual_database::quick(), db_.clock_to_share()};
};

TEST_P(SharedPermits, AreCountedTogether)
{
    EXPECT_TRUE(try_take(make()));
    EXPECT_FALSE(second_.run(make_there().try_take()));
    pass(10s);
    EXPECT_TRUE(second_.run(make_there().try_take()));
    EXPECT_FALSE(try_take(make()));
}

TEST_P(SharedPermits, GoToOneOfThoseWhoWaitInBoth)
{
    const rate_limit here = make_empty();
    const rate_limit there = make_there();
    const waits waiting_here = start_takes(here, 3);
    waits waiting_there;
    for (int each = 0; each < 3; ++each) {
        waiting_there.push_back(second_.start(there.take()));
    }
    second_.settle();
    for (int each = 1; each <= 6; ++each) {
        pass(10s);
        EXPECT_EQ(done(waiting_here) + done(waiting_there), each);
    }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, SharedPermits, ::testing::ValuesIn(support::both_algorithms),
                         support::algorithm_name);

/// What `honker_rate_limit_try(name, limit, per)` does, by a program that knows nothing of skein.
class PermitsInSql : public support::rate_limit_fixture {
protected:
    /// Makes the table as that program does, for databases that have not come yet.
    void bootstrap()
    {
        process_.sql("CREATE TABLE IF NOT EXISTS _honker_rate_limits (name TEXT NOT NULL,"
                     " window_start INTEGER NOT NULL, count INTEGER NOT NULL DEFAULT 0,"
                     " PRIMARY KEY (name, window_start))");
    }

    bool try_in_sql(int limit, int per, int now)
    {
        const auto text = [](int number) { return std::to_string(number); };
        return process_.sql("INSERT INTO _honker_rate_limits (name, window_start, count)"
                            " VALUES ('r', (" +
                            text(now) + " / " + text(per) + ") * " + text(per) +
                            ", 1) ON CONFLICT (name, window_start)"
                            " DO UPDATE SET count = count + 1 WHERE count < " +
                            text(limit) + "; SELECT changes()") == std::vector<std::string>{"1"};
    }

    other_process process_{db_.path()};
};

TEST_F(PermitsInSql, AreCountedWithOurs)
{
    const rate_limit limit = windows(3, 10s);
    EXPECT_TRUE(try_take(limit));
    EXPECT_TRUE(try_in_sql(3, 10, 100));
    EXPECT_TRUE(try_take(limit));
    EXPECT_FALSE(try_in_sql(3, 10, 109));
    EXPECT_FALSE(try_take(limit));
    EXPECT_THAT(window_rows(), ElementsAre("r|100|3"));
}

TEST_F(PermitsInSql, MayBeTakenBeforeWeCome)
{
    bootstrap();
    EXPECT_TRUE(try_in_sql(2, 10, 100));
    const rate_limit limit = windows(2, 10s);
    EXPECT_EQ(take_all(limit), 1);
    EXPECT_EQ(take_all(paced(1, 10s)), 1) << "what we add was not made";
}

TEST_F(PermitsInSql, AreWaitedForWhenTheOtherHasTakenAll)
{
    bootstrap();
    EXPECT_TRUE(try_in_sql(1, 10, 100));
    EXPECT_TRUE(try_in_sql(1, 10, 110));
    const waits waiting = start_takes(windows(1, 10s), 1);
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 0);
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 1);
    EXPECT_FALSE(try_in_sql(1, 10, 120));
}

TEST_F(PermitsInSql, ComeBackWhenTheOtherSweeps)
{
    const rate_limit limit = windows(1, 10s);
    EXPECT_TRUE(try_take(limit));
    const waits waiting = start_takes(limit, 1);
    process_.sql("DELETE FROM _honker_rate_limits WHERE window_start < 101 - 0");
    db_.advance(1ms);
    EXPECT_EQ(done(waiting), 1);
}

} // namespace
