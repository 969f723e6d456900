#include "lock/lock_fixture.hpp"

#include <asio/error.hpp>

#include <optional>
#include <utility>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::operation;

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

} // namespace
