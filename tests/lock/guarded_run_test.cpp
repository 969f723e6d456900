#include "lock/lock_fixture.hpp"
#include "support/operation.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <stdexcept>
#include <utility>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::operation;

/// Work under a lock: it waits for a notification, and returns 7.
class GuardedRun : public support::lock_fixture {
protected:
    static asio::awaitable<int> work(listener& inbox)
    {
        const notification note = co_await inbox.next();
        co_return note.payload == "7" ? 7 : 0;
    }

    void finish_work() { db_.run(db_.database().notify("c", "7")); }

    lock_guard guard_ = acquire();
    listener inbox_ = db_.run(db_.database().listen("c"));
};

TEST_F(GuardedRun, ReturnsWhatTheWorkReturns)
{
    auto run = db_.start(guard_.run(work(inbox_)));
    db_.settle();
    EXPECT_FALSE(run.is_done());
    finish_work();
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.result(), 7);
    EXPECT_TRUE(guard_.is_held());
}

TEST_F(GuardedRun, ThrowsWhatTheWorkThrows)
{
    const auto fail = []() -> asio::awaitable<int> {
        co_await asio::this_coro::executor;
        throw std::runtime_error("spilt");
    };
    auto run = db_.start(guard_.run(fail()));
    db_.settle();
    ASSERT_TRUE(run.is_done());
    EXPECT_THROW(run.result(), std::runtime_error);
}

TEST_F(GuardedRun, CancelsTheWorkWhenTheLockIsLost)
{
    auto run = db_.start(guard_.run(work(inbox_)));
    db_.settle();
    other_.sql("UPDATE _honker_locks SET owner = 'another' WHERE name = 'l'");
    db_.advance(5s);
    EXPECT_FALSE(run.is_done());
    db_.advance(5s); // it is renewed
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::lock_lost);
    EXPECT_FALSE(guard_.is_held());
}

TEST_F(GuardedRun, CancelsTheWorkWhenItWasStoppedForTooLong)
{
    auto run = db_.start(guard_.run(work(inbox_)));
    db_.settle();
    db_.advance(31s);
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::lock_lost);
}

TEST_F(GuardedRun, CancelsTheWorkAtItsTimeWhileOthersWaitForTheFile)
{
    auto run = db_.start(guard_.run(work(inbox_)));
    db_.settle();
    other_.sql("BEGIN IMMEDIATE");
    std::vector<operation<std::int64_t>> writers;
    for (int i = 0; i < 299; ++i) {
        writers.push_back(db_.start(db_.database().notify("another", "1")));
        db_.advance(100ms);
        ASSERT_FALSE(run.is_done());
    }
    db_.advance(200ms); // its time is over
    db_.advance(10ms);  // the next try
    EXPECT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::lock_lost);
    other_.sql("COMMIT");
}

TEST_F(GuardedRun, CancelsTheWorkAtItsTimeWhileTheDatabaseIsStopped)
{
    asio::io_context elsewhere;
    bool was_cancelled = false;
    const auto wait = [&]() -> asio::awaitable<void> {
        asio::steady_timer never(elsewhere, asio::steady_timer::time_point::max());
        asio::error_code ended;
        co_await never.async_wait(asio::redirect_error(asio::use_awaitable, ended));
        was_cancelled = true;
    };
    const auto poll = [&] {
        elsewhere.restart();
        elsewhere.poll();
    };
    operation<void> run(elsewhere, guard_.run(wait()));
    poll();
    db_.settle();
    db_.advance(20s); // it is renewed
    db_.clock().advance(29s);
    poll();
    EXPECT_FALSE(was_cancelled);
    db_.clock().advance(1s);
    poll();
    EXPECT_TRUE(was_cancelled);
    db_.settle();
    poll();
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::lock_lost);
}

TEST_F(GuardedRun, CancelsTheWorkWhenTheLockIsReleased)
{
    auto run = db_.start(guard_.run(work(inbox_)));
    db_.settle();
    guard_ = lock_guard();
    db_.settle();
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::lock_lost);
}

TEST_F(GuardedRun, EndsWithTheDatabase)
{
    auto run = db_.start(guard_.run(work(inbox_)));
    db_.settle();
    db_.run(db_.database().close());
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::closed);
}

TEST_F(GuardedRun, CanBeCancelled)
{
    auto run = db_.start(guard_.run(work(inbox_)));
    db_.settle();
    run.cancel();
    db_.settle();
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), asio::error::operation_aborted);
    EXPECT_TRUE(guard_.is_held());
}

} // namespace
