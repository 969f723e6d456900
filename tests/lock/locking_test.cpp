#include "lock/lock_fixture.hpp"

#include "support/statement_counter.hpp"

#include <asio/error.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using support::operation;
using ::testing::HasSubstr;

using Locking = support::lock_fixture;

TEST_F(Locking, HoldsWhatIsFree)
{
    const lock_guard guard = acquire();
    EXPECT_TRUE(guard.is_held());
    EXPECT_EQ(guard.name(), "l");
    EXPECT_EQ(guard.expires_at().time_since_epoch(), 130s);
    EXPECT_EQ(value("SELECT expires_at FROM _honker_locks WHERE name = 'l'"), "130");
    EXPECT_FALSE(db_.run(lock_.try_acquire()));
}

TEST_F(Locking, IsRefusedByOthersInTheSameProcessUnderTheSameOwner)
{
    const named_lock lock = db_.database().lock("l", {.owner = "me"});
    const auto guard = db_.run(lock.try_acquire());
    ASSERT_TRUE(guard);
    EXPECT_FALSE(db_.run(lock.try_acquire()));
    EXPECT_EQ(value("SELECT substr(owner, 1, 3) FROM _honker_locks"), "me#");
}

TEST_F(Locking, IsReleasedWhenTheGuardIsDropped)
{
    std::optional<lock_guard> guard = acquire();
    auto wait = db_.start(lock_.acquire());
    db_.settle();
    EXPECT_FALSE(wait.is_done());
    guard.reset();
    db_.settle();
    ASSERT_TRUE(wait.is_done());
    EXPECT_TRUE(wait.result().is_held());
}

TEST_F(Locking, IsRenewedWhileTheGuardLives)
{
    const lock_guard guard = acquire();
    for (int i = 0; i < 100; ++i) {
        db_.advance(10s);
        ASSERT_TRUE(guard.is_held());
    }
    EXPECT_EQ(guard.expires_at().time_since_epoch(), 1130s);
}

TEST_F(Locking, IsLostWhenItsHolderIsStoppedForTooLong)
{
    lock_guard guard = acquire();
    db_.clock().advance(31s); // nothing runs meanwhile
    EXPECT_FALSE(guard.is_held());
    other_.sql("UPDATE _honker_locks SET owner = 'another', expires_at = 200");
    db_.settle();
    EXPECT_FALSE(guard.is_held());
    EXPECT_FALSE(db_.run(guard.renew()));
    EXPECT_FALSE(db_.run(guard.release()));
    EXPECT_EQ(value("SELECT owner FROM _honker_locks"), "another");
}

TEST_F(Locking, ComesToWhoWaitsWhenItsTimeIsOver)
{
    other_.sql("INSERT INTO _honker_locks (name, owner, expires_at) VALUES ('l', 'other', 107)");
    auto wait = db_.start(lock_.acquire());
    db_.settle();
    db_.advance(6999ms);
    EXPECT_FALSE(wait.is_done());
    db_.advance(1ms);
    EXPECT_TRUE(wait.is_done());
}

TEST_F(Locking, ComesToWhoWaitsWhenAnotherProgramReleasesIt)
{
    other_.sql("INSERT INTO _honker_locks (name, owner, expires_at) VALUES ('l', 'other', 999)");
    auto wait = db_.start(lock_.acquire());
    db_.settle();
    other_.sql("DELETE FROM _honker_locks WHERE name = 'l' AND owner = 'other'");
    db_.advance(1ms);
    EXPECT_TRUE(wait.is_done());
}

TEST_F(Locking, IsWaitedForAsLongAsItIsRenewed)
{
    other_.sql("INSERT INTO _honker_locks (name, owner, expires_at) VALUES ('l', 'other', 107)");
    auto wait = db_.start(lock_.acquire());
    db_.settle();
    other_.sql("UPDATE _honker_locks SET expires_at = 120");
    db_.advance(10s);
    EXPECT_FALSE(wait.is_done());
    db_.advance(10s);
    EXPECT_TRUE(wait.is_done());
}

TEST_F(Locking, IsTakenInTheOrderOfArrival)
{
    std::optional<lock_guard> guard = acquire();
    std::vector<operation<lock_guard>> waits;
    for (int i = 0; i < 5; ++i) {
        waits.push_back(db_.start(lock_.acquire()));
        db_.settle();
    }
    for (auto& each : waits) {
        EXPECT_FALSE(each.is_done());
        guard.reset();
        db_.settle();
        ASSERT_TRUE(each.is_done());
        guard = each.result();
    }
}

TEST_F(Locking, OfAnotherNameIsAnotherLock)
{
    const lock_guard guard = acquire();
    for (const char* name : {"", "l2", "l@", "1:l@"}) {
        EXPECT_TRUE(db_.run(db_.database().lock(name).try_acquire())) << name;
    }
}

TEST_F(Locking, DoesNotFailWithThoseWhoDoNotMakeTheTables)
{
    support::manual_database fresh;
    const named_lock foreign = fresh.database().lock("l", {.create_schema = false});
    auto first = fresh.start(foreign.acquire());
    auto second = fresh.start(fresh.database().lock("l").acquire());
    fresh.settle();
    ASSERT_TRUE(first.is_done());
    EXPECT_EQ(first.error(), errc::storage_failure);
    ASSERT_TRUE(second.is_done());
    EXPECT_TRUE(second.result().is_held());
}

TEST_F(Locking, EndsAtTheLimit)
{
    const lock_guard guard = acquire();
    auto wait = db_.start(lock_.acquire_within(12s));
    db_.settle();
    db_.advance(11s);
    EXPECT_FALSE(wait.is_done());
    db_.advance(1s);
    ASSERT_TRUE(wait.is_done());
    EXPECT_FALSE(wait.result());
}

TEST_F(Locking, ACancelledWaitLeavesNothingBehind)
{
    std::optional<lock_guard> guard = acquire();
    auto first = db_.start(lock_.acquire());
    auto second = db_.start(lock_.acquire());
    db_.settle();
    first.cancel();
    db_.settle();
    EXPECT_EQ(first.error(), asio::error::operation_aborted);
    guard.reset();
    db_.settle();
    EXPECT_TRUE(second.is_done());
}

TEST_F(Locking, IsReleasedWhenWhoHasWaitedForItIsGone)
{
    {
        manual_database gone(db_.path(), manual_database::quick(), db_.clock_to_share());
        auto wait = gone.start(gone.database().lock("l").acquire());
        gone.settle();
        EXPECT_TRUE(wait.is_done()); // and nobody takes what it returns
        gone.drop_database();
    }
    db_.advance(31s);
    EXPECT_TRUE(db_.run(lock_.try_acquire()));
}

TEST_F(Locking, EndsWithTheDatabase)
{
    const lock_guard guard = acquire();
    auto wait = db_.start(lock_.acquire());
    db_.settle();
    db_.run(db_.database().close());
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.error(), errc::closed);
}

TEST_F(Locking, TellsTheHolder)
{
    EXPECT_FALSE(db_.run(lock_.holder()));
    const lock_guard guard = acquire();
    const auto holder = db_.run(lock_.holder());
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->owner, value("SELECT owner FROM _honker_locks WHERE name = 'l'"));
    EXPECT_EQ(holder->expires_at, guard.expires_at());
    EXPECT_EQ(holder->fence, guard.fence());
}

TEST_F(Locking, TellsOfNoHolderWhoseTimeIsOver)
{
    other_.sql("INSERT INTO _honker_locks (name, owner, expires_at) VALUES ('l', 'other', 100)");
    EXPECT_FALSE(db_.run(lock_.holder()));
}

TEST_F(Locking, AThousandWhoWaitCostNothingWhileNothingHappens)
{
    other_.sql("INSERT INTO _honker_locks (name, owner, expires_at) VALUES ('l', 'other', 999)");
    std::vector<operation<lock_guard>> waits;
    for (int i = 0; i < 1000; ++i) {
        waits.push_back(db_.start(lock_.acquire()));
    }
    db_.settle();
    const support::statement_counter counter(db_.handle());
    for (int i = 0; i < 1000; ++i) {
        db_.advance(1ms);
    }
    EXPECT_EQ(counter.count(), counter.count("data_version"));
}

TEST_F(Locking, OneLookServesAThousandWhoWait)
{
    other_.sql("INSERT INTO _honker_locks (name, owner, expires_at) VALUES ('l', 'other', 999)");
    std::vector<operation<lock_guard>> waits;
    for (int i = 0; i < 1000; ++i) {
        waits.push_back(db_.start(lock_.acquire()));
    }
    db_.settle();
    const support::statement_counter counter(db_.handle());
    other_.sql("UPDATE _honker_locks SET expires_at = 998");
    db_.advance(1ms);
    EXPECT_EQ(counter.count("_honker_locks"), 1U);
}

TEST_F(Locking, RefusesATimeToLiveThatIsNotPositive)
{
    for (const auto ttl : {0s, -1s, std::chrono::seconds::min()}) {
        try {
            static_cast<void>(db_.database().lock("l", {.ttl = ttl}));
            ADD_FAILURE() << ttl.count();
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
            EXPECT_THAT(refused.what(), HasSubstr("ttl: "));
        }
    }
}

TEST_F(Locking, MayBeForEver)
{
    const named_lock lock = db_.database().lock("l", {.ttl = std::chrono::seconds::max()});
    const lock_guard guard = db_.run(lock.acquire());
    EXPECT_TRUE(guard.is_held());
    EXPECT_EQ(value("SELECT expires_at FROM _honker_locks"), "9223372036854775807");
    db_.advance(1000h);
    EXPECT_TRUE(guard.is_held());
}

TEST_F(Locking, IsHeldForItsTimeAtLeast)
{
    db_.advance(900ms);
    const lock_guard guard = db_.run(db_.database().lock("l", {.ttl = 1s}).acquire());
    EXPECT_EQ(value("SELECT expires_at FROM _honker_locks"), "102");
    for (int i = 0; i < 1000; ++i) {
        db_.advance(10ms);
        ASSERT_TRUE(guard.is_held());
    }
}

TEST_F(Locking, IsNotTakenWhereATriggerForbidsIt)
{
    other_.sql("CREATE TRIGGER forbidden BEFORE INSERT ON _honker_locks"
               " BEGIN SELECT raise(IGNORE); END");
    auto wait = db_.start(lock_.acquire());
    db_.settle();
    EXPECT_FALSE(wait.is_done());
    const support::statement_counter counter(db_.handle());
    db_.advance(10s);
    EXPECT_EQ(counter.count("_honker_locks"), 0U);
    other_.sql("DROP TRIGGER forbidden");
    db_.advance(1ms);
    EXPECT_TRUE(wait.is_done());
}

} // namespace
