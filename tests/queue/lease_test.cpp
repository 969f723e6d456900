#include "queue/queue_fixture.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <stdexcept>

namespace {

using namespace std::chrono_literals;
using namespace skein;

/// What becomes of a job whose handle is dropped.
class JobLease : public support::queue_fixture {
protected:
    std::string attempts()
    {
        return value("SELECT state || ' ' || attempts || ' of ' || max_attempts FROM _honker_live");
    }
};

TEST_F(JobLease, ThatIsDroppedUnseenIsGivenBackUncounted)
{
    enqueue("null", {.max_attempts = 1});
    {
        const job dropped = claim();
    }
    db_.settle();
    EXPECT_EQ(attempts(), "pending 1 of 2");
}

TEST_F(JobLease, ThatIsDroppedAfterALookIsGivenBackCounted)
{
    enqueue("7", {.max_attempts = 2});
    EXPECT_EQ(claim().payload(), "7");
    db_.settle();
    EXPECT_EQ(attempts(), "pending 1 of 2");
}

TEST_F(JobLease, ThatIsDroppedAfterTheLastAttemptMakesADeadLetter)
{
    const std::int64_t id = enqueue("7", {.max_attempts = 1});
    EXPECT_EQ(claim().payload(), "7");
    db_.settle();
    EXPECT_EQ(state_of(id), "dead: max attempts exceeded");
}

asio::awaitable<void> handle_and_throw(skein::queue queue)
{
    const job claimed = co_await queue.claim();
    throw std::runtime_error(std::string(claimed.payload()));
}

TEST_F(JobLease, OfAHandlerThatAlwaysThrowsEndsInTheDeadLetters)
{
    const std::int64_t id = enqueue("7");
    for (int attempt = 1; attempt <= 3; ++attempt) {
        EXPECT_EQ(state_of(id), "pending");
        EXPECT_THROW(db_.run(handle_and_throw(queue_)), std::runtime_error);
        db_.settle();
    }
    EXPECT_EQ(state_of(id), "dead: max attempts exceeded");
}

TEST_F(JobLease, ThatIsDroppedWakesAWaiter)
{
    enqueue();
    job held = claim();
    auto waiting = db_.start(queue_.claim());
    db_.settle();
    held = job();
    db_.settle();
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(JobLease, ThatIsMovedIsKept)
{
    enqueue();
    job first = claim();
    job moved(std::move(first));
    job& same = moved;
    moved = std::move(same);
    db_.settle();
    EXPECT_EQ(attempts(), "processing 1 of 3");
    EXPECT_FALSE(first); // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(db_.run(moved.ack()));
}

TEST_F(JobLease, ThatIsDetachedIsKept)
{
    enqueue();
    job held = claim();
    static_cast<void>(held.detach());
    EXPECT_FALSE(held);
    held = job();
    db_.settle();
    EXPECT_EQ(attempts(), "processing 1 of 3");
}

asio::awaitable<void> claim_and_hold(skein::queue queue)
{
    const job claimed = co_await queue.claim();
    asio::steady_timer never(co_await asio::this_coro::executor, std::chrono::hours(1));
    co_await never.async_wait(asio::use_awaitable);
}

TEST_F(JobLease, OfACoroutineThatIsDestroyedIsFreeAtOnce)
{
    enqueue();
    {
        asio::io_context context;
        asio::co_spawn(context, claim_and_hold(queue_), [](const std::exception_ptr&) {});
        context.poll();
        db_.settle();
        context.poll();
        EXPECT_EQ(attempts(), "processing 1 of 3");
    }
    db_.settle();
    EXPECT_EQ(attempts(), "pending 1 of 4");
}

TEST_F(JobLease, ThatWasNotDeliveredIsFreeAtOnce)
{
    enqueue();
    {
        asio::io_context context;
        asio::co_spawn(context, claim_and_hold(queue_), [](const std::exception_ptr&) {});
        context.poll();
        db_.settle();
        EXPECT_EQ(attempts(), "processing 1 of 3") << "the result is on its way";
    }
    db_.settle();
    EXPECT_EQ(attempts(), "pending 1 of 4");
}

TEST_F(JobLease, OfAFailedAckIsKept)
{
    enqueue();
    other_.sql("CREATE TRIGGER refuse BEFORE DELETE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'no'); END");
    {
        job claimed = claim();
        EXPECT_THROW(db_.run(claimed.ack()), error);
    }
    db_.settle();
    EXPECT_EQ(attempts(), "processing 1 of 3") << "the work may have been done";
}

TEST_F(JobLease, OfAFailedRetryIsGivenBackWhenItIsDropped)
{
    enqueue();
    other_.sql("CREATE TRIGGER refuse BEFORE UPDATE ON _honker_live WHEN new.state = 'scheduled'"
               " BEGIN SELECT RAISE(ABORT, 'no'); END");
    {
        job claimed = claim();
        EXPECT_THROW(static_cast<void>(db_.run(claimed.retry(10s))), error);
        EXPECT_EQ(attempts(), "processing 1 of 3");
    }
    db_.settle();
    EXPECT_EQ(attempts(), "pending 1 of 4");
}

TEST_F(JobLease, OutlivesTheDatabase)
{
    enqueue();
    job held = claim();
    db_.run(db_.database().close());
    EXPECT_EQ(held.payload(), "null");
    EXPECT_THROW(db_.run(held.ack()), error);
    held = job();
    db_.settle();
}

} // namespace
