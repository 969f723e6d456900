#include "rate_limit/rate_limit_fixture.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <stdexcept>

namespace {

using namespace std::chrono_literals;
using namespace skein;

class PermitInATransaction : public support::each_rate_limit {};

TEST_P(PermitInATransaction, CountsWhenItCommits)
{
    const rate_limit limit = make();
    bool first = false;
    bool second = true;
    auto work = [&](transaction& tx) {
        first = limit.try_take(tx);
        second = limit.try_take(tx);
    };
    db_.run(db_.database().transaction(work));
    EXPECT_TRUE(first);
    EXPECT_FALSE(second);
    EXPECT_FALSE(try_take(limit));
}

TEST_P(PermitInATransaction, IsNotTakenWhenItIsRolledBack)
{
    const rate_limit limit = make();
    auto work = [&](transaction& tx) {
        EXPECT_TRUE(limit.try_take(tx));
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(work)), std::runtime_error);
    EXPECT_TRUE(try_take(limit));
}

TEST_P(PermitInATransaction, IsNotTakenWhenASavepointIsRolledBack)
{
    const rate_limit limit = make();
    auto work = [&](transaction& tx) {
        tx.database().exec("SAVEPOINT mine");
        EXPECT_TRUE(limit.try_take(tx));
        tx.database().exec("ROLLBACK TO mine");
        tx.database().exec("RELEASE mine");
    };
    db_.run(db_.database().transaction(work));
    EXPECT_TRUE(try_take(limit));
    EXPECT_FALSE(try_take(limit));
}

TEST_P(PermitInATransaction, LetsThoseWhoWaitWaitOn)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    auto work = [&](transaction& tx) { return limit.try_take(tx); };
    EXPECT_FALSE(db_.run(db_.database().transaction(work)));
    EXPECT_EQ(done(waiting), 0);
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(PermitInATransaction, IsTakenInFrontOfThoseWhoWait)
{
    const rate_limit limit = make_empty();
    const waits waiting = start_takes(limit, 1);
    db_.clock().set_wall(epoch(110s)); // their alarm does not know of it yet
    auto work = [&](transaction& tx) { return limit.try_take(tx); };
    EXPECT_TRUE(db_.run(db_.database().transaction(work)));
    EXPECT_EQ(done(waiting), 0);
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 1);
}

TEST_P(PermitInATransaction, OfAnotherDatabaseIsRefused)
{
    const rate_limit limit = make();
    support::manual_database second;
    auto work = [&](transaction& tx) { return limit.try_take(tx); };
    try {
        second.run(second.database().transaction(work));
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
    }
}

TEST_P(PermitInATransaction, ThatMakesTheTablesIsUndoneWithThem)
{
    const rate_limit limit = make();
    auto work = [&](transaction& tx) {
        EXPECT_TRUE(limit.try_take(tx));
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(work)), std::runtime_error);
    EXPECT_EQ(other_.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%rate%'"), "0");
    EXPECT_TRUE(try_take(limit));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, PermitInATransaction,
                         ::testing::ValuesIn(support::both_algorithms), support::algorithm_name);

} // namespace
