#include "lock/lock_fixture.hpp"
#include "support/statement_counter.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Savepoint.h>
#include <SQLiteCpp/Statement.h>
#include <asio/error.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <utility>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using support::operation;
using support::statement_counter;

using Guard = support::lock_fixture;

TEST_F(Guard, IsEmptyByDefaultAndWhenItWasMoved)
{
    lock_guard empty;
    EXPECT_FALSE(empty.is_held());
    lock_guard guard = acquire();
    empty = std::move(guard);
    EXPECT_TRUE(empty.is_held());
    EXPECT_FALSE(guard.is_held()); // NOLINT(bugprone-use-after-move): that is what is asked
}

TEST_F(Guard, ReleasesWhatItHeldWhenAnotherIsAssignedToIt)
{
    lock_guard guard = acquire();
    guard = db_.run(db_.database().lock("m").acquire());
    db_.settle();
    EXPECT_EQ(guard.name(), "m");
    EXPECT_TRUE(db_.run(lock_.try_acquire()));
}

TEST_F(Guard, TellsWhetherItHasReleased)
{
    lock_guard guard = acquire();
    EXPECT_TRUE(db_.run(guard.release()));
    EXPECT_FALSE(guard.is_held());
    EXPECT_FALSE(db_.run(guard.release()));
    EXPECT_EQ(value("SELECT count(*) FROM _honker_locks"), "0");
}

TEST_F(Guard, DoesNotReleaseWhatAnotherHas)
{
    {
        const lock_guard guard = acquire();
        other_.sql("UPDATE _honker_locks SET owner = 'another'");
    }
    db_.settle();
    EXPECT_EQ(value("SELECT owner FROM _honker_locks"), "another");
}

TEST_F(Guard, CanBeRenewedByHand)
{
    lock_guard guard = acquire();
    db_.advance(5s);
    EXPECT_TRUE(db_.run(guard.renew()));
    EXPECT_EQ(guard.expires_at().time_since_epoch(), 135s);
    EXPECT_EQ(value("SELECT expires_at FROM _honker_locks"), "135");
}

TEST_F(Guard, IsLostWhenARenewalFindsAnotherHolder)
{
    lock_guard guard = acquire();
    other_.sql("UPDATE _honker_locks SET owner = 'another'");
    EXPECT_FALSE(db_.run(guard.renew()));
    EXPECT_FALSE(guard.is_held());
}

TEST_F(Guard, HasAFenceThatRisesWithEachHolderWhoeverItIs)
{
    std::optional<lock_guard> guard = acquire();
    const std::int64_t first = guard->fence().value();
    EXPECT_TRUE(db_.run(guard->renew()));
    EXPECT_EQ(guard->fence(), first);
    guard.reset();
    db_.settle();
    other_.sql("INSERT INTO _honker_locks (name, owner, expires_at) VALUES ('l', 'other', 999)");
    const std::int64_t second = db_.run(lock_.holder())->fence.value();
    EXPECT_GT(second, first);
    other_.sql("DELETE FROM _honker_locks");
    guard = acquire();
    EXPECT_GT(guard->fence().value(), second);
}

TEST_F(Guard, TellsInsideATransactionWhetherItStillHolds)
{
    lock_guard guard = acquire();
    other_.sql("CREATE TABLE effects (n INTEGER)");
    const auto work = [&](transaction& tx) {
        if (!guard.renew(tx)) {
            throw std::runtime_error("lost");
        }
        SQLite::Statement(tx.database(), "INSERT INTO effects VALUES (1)").exec();
    };
    db_.run(db_.database().transaction(work));
    EXPECT_EQ(value("SELECT count(*) FROM effects"), "1");
    other_.sql("UPDATE _honker_locks SET owner = 'another'");
    EXPECT_THROW(db_.run(db_.database().transaction(work)), std::runtime_error);
    EXPECT_EQ(value("SELECT count(*) FROM effects"), "1");
    EXPECT_FALSE(guard.is_held());
}

TEST_F(Guard, KeepsItsOldTimeWhenTheTransactionThatRenewsItFails)
{
    lock_guard guard = acquire();
    db_.advance(5s);
    const auto work = [&](transaction& tx) {
        EXPECT_TRUE(guard.renew(tx));
        throw std::runtime_error("fails");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(work)), std::runtime_error);
    EXPECT_EQ(guard.expires_at().time_since_epoch(), 130s);
    EXPECT_EQ(value("SELECT expires_at FROM _honker_locks"), "130");
}

TEST_F(Guard, ReleasesWithTheTransaction)
{
    lock_guard guard = acquire();
    const auto fail = [&](transaction& tx) {
        EXPECT_TRUE(guard.release(tx));
        throw std::runtime_error("fails");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(fail)), std::runtime_error);
    EXPECT_TRUE(guard.is_held());
    EXPECT_EQ(value("SELECT count(*) FROM _honker_locks"), "1");
    const auto succeed = [&](transaction& tx) { return guard.release(tx); };
    EXPECT_TRUE(db_.run(db_.database().transaction(succeed)));
    EXPECT_FALSE(guard.is_held());
    EXPECT_EQ(value("SELECT count(*) FROM _honker_locks"), "0");
}

TEST_F(Guard, HoldsWhatATransactionTakesFromItsCommitOn)
{
    std::optional<lock_guard> guard;
    const auto take = [&](transaction& tx) {
        guard = lock_.try_acquire(tx);
        ASSERT_TRUE(guard);
        EXPECT_FALSE(guard->is_held());
        EXPECT_FALSE(lock_.try_acquire(tx));
    };
    db_.run(db_.database().transaction(take));
    for (int i = 0; i < 30; ++i) {
        EXPECT_TRUE(guard->is_held());
        db_.advance(10s);
    }
}

TEST_F(Guard, HoldsNothingThatARolledBackTransactionHasTaken)
{
    std::optional<lock_guard> guard;
    const auto take = [&](transaction& tx) {
        guard = lock_.try_acquire(tx);
        throw std::runtime_error("fails");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(take)), std::runtime_error);
    EXPECT_FALSE(guard->is_held());
    EXPECT_FALSE(db_.run(guard->renew()));
    EXPECT_TRUE(db_.run(lock_.try_acquire()));
}

TEST_F(Guard, OfATransactionThatIsDroppedInItLeavesNothing)
{
    const auto take = [&](transaction& tx) { EXPECT_TRUE(lock_.try_acquire(tx)); };
    db_.run(db_.database().transaction(take));
    db_.settle();
    EXPECT_EQ(value("SELECT count(*) FROM _honker_locks"), "0");
    db_.advance(60s);
    EXPECT_EQ(value("SELECT count(*) FROM _honker_locks"), "0");
}

TEST_F(Guard, HoldsNothingThatARolledBackSavepointHasTaken)
{
    std::optional<lock_guard> guard;
    const auto take = [&](transaction& tx) {
        SQLite::Savepoint savepoint(tx.database(), "mine");
        guard = lock_.try_acquire(tx);
        ASSERT_TRUE(guard);
        savepoint.rollback();
    };
    db_.run(db_.database().transaction(take));
    EXPECT_FALSE(guard->is_held());
    EXPECT_TRUE(db_.run(lock_.try_acquire()));
    EXPECT_FALSE(guard->is_held());
}

TEST_F(Guard, HoldsNothingThatWasUndoneTogetherWithTheTables)
{
    support::manual_database fresh;
    const named_lock lock = fresh.database().lock("l");
    std::optional<lock_guard> guard;
    const auto take = [&](transaction& tx) {
        SQLite::Savepoint savepoint(tx.database(), "mine");
        guard = lock.try_acquire(tx);
        ASSERT_TRUE(guard);
        savepoint.rollback();
        EXPECT_FALSE(tx.database().tableExists("_honker_locks"));
    };
    fresh.run(fresh.database().transaction(take));
    EXPECT_FALSE(guard->is_held());
    EXPECT_TRUE(fresh.run(lock.try_acquire()));
}

TEST_F(Guard, KeepsItsOldTimeWhenTheSavepointThatRenewsItIsRolledBack)
{
    lock_guard guard = acquire();
    db_.advance(5s);
    const auto renew = [&](transaction& tx) {
        SQLite::Savepoint savepoint(tx.database(), "mine");
        EXPECT_TRUE(guard.renew(tx));
        savepoint.rollback();
    };
    db_.run(db_.database().transaction(renew));
    EXPECT_EQ(guard.expires_at().time_since_epoch(), 130s);
    EXPECT_EQ(value("SELECT expires_at FROM _honker_locks"), "130");
}

TEST_F(Guard, IsHeldAndRenewedWhenTheSavepointThatReleasesItIsRolledBack)
{
    lock_guard guard = acquire();
    const auto release = [&](transaction& tx) {
        SQLite::Savepoint savepoint(tx.database(), "mine");
        EXPECT_TRUE(guard.release(tx));
        savepoint.rollback();
    };
    db_.run(db_.database().transaction(release));
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(guard.is_held());
        db_.advance(10s);
    }
    EXPECT_EQ(value("SELECT count(*) FROM _honker_locks"), "1");
}

TEST_F(Guard, RefusesATransactionOfAnotherDatabase)
{
    lock_guard guard = acquire();
    manual_database other;
    const auto work = [&](transaction& tx) { static_cast<void>(guard.renew(tx)); };
    auto refused = other.start(other.database().transaction(work));
    other.settle();
    EXPECT_EQ(refused.error(), errc::invalid_argument);
}

TEST_F(Guard, NeedsNobodyToWatchTheFile)
{
    const lock_guard guard = acquire();
    const statement_counter counter(db_.handle());
    for (int i = 0; i < 9000; ++i) {
        db_.advance(1ms);
    }
    EXPECT_EQ(counter.count(), 0U);
    db_.advance(1s); // it is renewed
    EXPECT_EQ(counter.count("UPDATE _honker_locks"), 1U);
}

TEST_F(Guard, IsRenewedWhenItIsTimeAndNotWithEachTransaction)
{
    const lock_guard guard = acquire();
    const statement_counter counter(db_.handle());
    const auto nothing = [](transaction&) {};
    db_.run(db_.database().transaction(nothing));
    db_.advance(1s);
    db_.run(db_.database().transaction(nothing));
    EXPECT_EQ(counter.count("UPDATE _honker_locks"), 0U);
}

TEST_F(Guard, IsRenewedInspiteOfALockThatAnotherProcessHoldsForAWhile)
{
    const lock_guard guard = acquire();
    db_.advance(9s);
    other_.sql("BEGIN IMMEDIATE");
    for (int i = 0; i < 120; ++i) {
        db_.advance(100ms); // longer than the busy timeout
    }
    other_.sql("COMMIT");
    for (int i = 0; i < 20; ++i) {
        db_.advance(100ms);
    }
    EXPECT_TRUE(guard.is_held());
    EXPECT_GT(guard.expires_at().time_since_epoch(), 150s);
}

TEST_F(Guard, IsLostAtItsTimeWhenItCannotBeRenewed)
{
    const lock_guard guard = acquire();
    other_.sql("BEGIN IMMEDIATE");
    for (int i = 0; i < 299; ++i) {
        db_.advance(100ms);
        ASSERT_TRUE(guard.is_held());
    }
    db_.advance(100ms);
    EXPECT_FALSE(guard.is_held());
    other_.sql("COMMIT");
    db_.advance(10s);
    EXPECT_FALSE(guard.is_held());
}

TEST_F(Guard, IsRenewedAgainAfterAnErrorThatPasses)
{
    const lock_guard guard = acquire();
    other_.sql("CREATE TRIGGER refused BEFORE UPDATE ON _honker_locks"
               " BEGIN SELECT raise(ABORT, 'not now'); END");
    db_.advance(15s);
    other_.sql("DROP TRIGGER refused");
    db_.advance(1s);
    EXPECT_TRUE(guard.is_held());
    EXPECT_EQ(guard.expires_at().time_since_epoch(), 146s);
}

TEST_F(Guard, IsLostWhenTheWallClockLeapsBeyondItsTime)
{
    const lock_guard guard = acquire();
    db_.clock().set_wall(db_.clock().wall_now() + 1h);
    EXPECT_FALSE(guard.is_held());
    db_.advance(10s); // its keeper notices
    db_.clock().set_wall(db_.clock().wall_now() - 1h);
    EXPECT_FALSE(guard.is_held());
}

TEST_F(Guard, IsRenewedWhenTheWallClockIsSetBack)
{
    db_.advance(10000s);
    const lock_guard guard = acquire();
    db_.clock().set_wall(db_.clock().wall_now() - 1h);
    for (int i = 0; i < 10; ++i) {
        db_.advance(10s);
        EXPECT_TRUE(guard.is_held());
    }
    EXPECT_EQ(guard.expires_at().time_since_epoch(), 10100s - 1h + 100s + 30s);
}

TEST_F(Guard, OfAClosedDatabaseIsHeldUntilItsTime)
{
    lock_guard guard = acquire();
    db_.run(db_.database().close());
    EXPECT_TRUE(guard.is_held());
    auto renewal = db_.start(guard.renew());
    db_.settle();
    EXPECT_EQ(renewal.error(), errc::closed);
    db_.advance(30s);
    EXPECT_FALSE(guard.is_held());
}

TEST_F(Guard, IsNotHeldByAChildProcess)
{
    const lock_guard guard = acquire();
    const pid_t child = fork();
    if (child == 0) {
        _exit(guard.is_held() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(guard.is_held());
}

TEST_F(Guard, KeepsNoContextBusy)
{
    const lock_guard guard = acquire();
    EXPECT_EQ(value("SELECT count(*) FROM _honker_locks"), "1");
    db_.context().restart();
    db_.context().run(); // returns
    EXPECT_TRUE(guard.is_held());
}

} // namespace
