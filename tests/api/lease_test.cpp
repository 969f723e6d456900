#include "runtime/running_queue.hpp"

#include <skein/transaction.hpp>

#include <gmock/gmock.h>

namespace {

using namespace std::chrono_literals;
using skein::errc;
using skein::message;

class Lease : public skein::support::running_queue {
protected:
    Lease()
    {
        publish("m");
        message_ = finish(queue_.claim());
    }

    message message_;
};

TEST_F(Lease, TellsWhatItIsOf)
{
    EXPECT_TRUE(message_);
    EXPECT_EQ(message_.payload(), "m");
    EXPECT_EQ(message_.group(), "g");
    EXPECT_EQ(message_.seq(), 1);
    EXPECT_EQ(message_.expires_at(), db_.clock().wall_now() + 30s);
    EXPECT_FALSE(message());
}

TEST_F(Lease, ThatIsDroppedIsFreeAtOnce)
{
    EXPECT_EQ(leased(), "1");
    {
        const message dropped = std::move(message_);
    }
    db_.settle();
    EXPECT_EQ(leased(), "0");
    EXPECT_EQ(peek(), "m");
}

TEST_F(Lease, ThatIsDroppedWakesAWaiter)
{
    auto waiting = start_claim();
    db_.settle();
    message_ = message();
    db_.settle();
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Lease, ThatIsMovedIsKept)
{
    message moved(std::move(message_));
    db_.settle();
    EXPECT_EQ(leased(), "1");
    EXPECT_FALSE(message_); // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(db_.run(moved.ack()));
}

TEST_F(Lease, ThatIsMovedToItselfIsKept)
{
    message& same = message_;
    message_ = std::move(same);
    db_.settle();
    EXPECT_TRUE(message_);
    EXPECT_EQ(leased(), "1");
}

TEST_F(Lease, ThatIsOverwrittenIsFreeAtOnce)
{
    publish("other", "other");
    message_ = finish(queue_.claim());
    db_.settle();
    EXPECT_EQ(leased(), "1");
    EXPECT_EQ(peek(), "m");
}

asio::awaitable<void> claim_and_throw(skein::transport queue)
{
    const message claimed = co_await queue.claim();
    throw std::runtime_error(std::string(claimed.payload()));
}

TEST_F(Lease, OfACoroutineThatThrowsIsFreeAtOnce)
{
    publish("thrown", "other");
    EXPECT_THROW(db_.run(claim_and_throw(queue_)), std::runtime_error);
    db_.settle();
    EXPECT_EQ(peek(), "thrown");
}

asio::awaitable<void> claim_and_hold(skein::transport queue)
{
    const message claimed = co_await queue.claim();
    asio::steady_timer never(co_await asio::this_coro::executor, std::chrono::hours(1));
    co_await never.async_wait(asio::use_awaitable);
}

TEST_F(Lease, OfACoroutineThatIsDestroyedIsFreeAtOnce)
{
    publish("held", "other");
    {
        asio::io_context context;
        asio::co_spawn(context, claim_and_hold(queue_), [](const std::exception_ptr&) {});
        context.poll();
        db_.settle();
        context.poll();
        EXPECT_EQ(leased(), "2");
    }
    db_.settle();
    EXPECT_EQ(leased(), "1");
    EXPECT_EQ(peek(), "held");
}

TEST_F(Lease, ThatWasNotDeliveredIsFreeAtOnce)
{
    publish("undelivered", "other");
    {
        asio::io_context context;
        asio::co_spawn(context, claim_and_hold(queue_), [](const std::exception_ptr&) {});
        context.poll();
        db_.settle();
        EXPECT_EQ(leased(), "2"); // the result is on its way
    }
    db_.settle();
    EXPECT_EQ(leased(), "1");
    EXPECT_EQ(peek(), "undelivered");
}

TEST_F(Lease, ThatIsDetachedIsKept)
{
    const skein::message_fence fence = message_.detach();
    EXPECT_FALSE(message_);
    message_ = message();
    db_.settle();
    EXPECT_EQ(leased(), "1");
    EXPECT_TRUE(db_.run(queue_.extend(fence, 60s)));
    EXPECT_TRUE(db_.run(queue_.ack(fence)));
    EXPECT_FALSE(db_.run(queue_.ack(fence)));
    EXPECT_THAT(payloads(), testing::IsEmpty());
}

TEST_F(Lease, OfAFailedAckIsKept)
{
    other_.sql("CREATE TRIGGER refuse BEFORE DELETE ON harel_transport_messages"
               " BEGIN SELECT RAISE(ABORT, 'no'); END");
    EXPECT_THROW(db_.run(message_.ack()), skein::error);
    message_ = message();
    db_.settle();
    EXPECT_EQ(leased(), "1");
    db_.advance(31s);
    EXPECT_EQ(peek(), "m");
}

TEST_F(Lease, OfACancelledAckIsKept)
{
    auto ack = db_.start(message_.ack());
    db_.context().restart();
    db_.context().poll_one(); // the coroutine has begun, its batch has not
    ack.cancel();
    db_.settle();
    EXPECT_EQ(ack.error(), asio::error::operation_aborted);
    EXPECT_TRUE(message_);
    message_ = message();
    db_.settle();
    EXPECT_EQ(leased(), "1");
}

TEST_F(Lease, OfACancelledAckCanStillBeAcknowledged)
{
    auto ack = db_.start(message_.ack());
    db_.context().restart();
    db_.context().poll_one(); // the coroutine has begun, its batch has not
    ack.cancel();
    db_.settle();
    EXPECT_TRUE(db_.run(message_.ack()));
}

TEST_F(Lease, OfAFailedNackIsGivenBackByTheDrop)
{
    other_.sql("CREATE TRIGGER refuse BEFORE UPDATE ON harel_transport_messages"
               " BEGIN SELECT RAISE(ABORT, 'no'); END");
    EXPECT_THROW(db_.run(message_.nack()), skein::error);
    other_.sql("DROP TRIGGER refuse");
    message_ = message();
    db_.settle();
    EXPECT_EQ(leased(), "0");
}

TEST_F(Lease, ThatIsSettledIsNotSettledAgain)
{
    EXPECT_TRUE(db_.run(message_.ack()));
    EXPECT_FALSE(db_.run(message_.ack()));
    EXPECT_FALSE(db_.run(message_.nack()));
    EXPECT_FALSE(db_.run(message_.extend(1s)));
}

TEST_F(Lease, ThatWasParkedIsLeftAloneByTheDrop)
{
    EXPECT_TRUE(db_.run(message_.nack(10s)));
    message_ = message();
    db_.settle();
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    db_.advance(11s);
    EXPECT_EQ(peek(), "m");
}

TEST_F(Lease, ThatHasLapsedAndWasTakenByAnotherIsLost)
{
    db_.advance(31s);
    auto second = db_.run(queue_.claim());
    EXPECT_FALSE(db_.run(message_.ack()));
    EXPECT_FALSE(db_.run(message_.extend(1s)));
    EXPECT_FALSE(db_.run(message_.nack()));
    message_ = message();
    db_.settle();
    EXPECT_EQ(leased(), "1");
    EXPECT_TRUE(db_.run(second.ack()));
}

TEST_F(Lease, ThatHasLapsedAndWasTakenByNobodyIsStillOurs)
{
    db_.advance(31s);
    EXPECT_TRUE(db_.run(message_.ack()));
}

TEST_F(Lease, IsExtendedFromNow)
{
    db_.advance(10s);
    EXPECT_TRUE(db_.run(message_.extend(60s)));
    EXPECT_EQ(message_.expires_at(), db_.clock().wall_now() + 60s);
    db_.advance(59s);
    EXPECT_EQ(peek(), "nothing");
    db_.advance(2s);
    EXPECT_EQ(peek(), "m");
}

TEST_F(Lease, MayBeCutShortAndMayHaveNoEnd)
{
    EXPECT_TRUE(db_.run(message_.extend(std::chrono::hours::max())));
    EXPECT_EQ(message_.expires_at(), skein::clock::wall_time::max());
    EXPECT_TRUE(db_.run(message_.extend(0s)));
    db_.advance(1ms);
    EXPECT_EQ(peek(), "m");
}

TEST_F(Lease, RefusesLengthsThatAreNone)
{
    const skein::duration none(std::numeric_limits<double>::quiet_NaN());
    EXPECT_THROW(static_cast<void>(message_.extend(-1s)), skein::error);
    EXPECT_THROW(static_cast<void>(message_.extend(none)), skein::error);
    EXPECT_THROW(static_cast<void>(message_.nack(none)), skein::error);
    EXPECT_TRUE(db_.run(message_.ack()));
}

TEST_F(Lease, OutlivesItsDatabase)
{
    db_.drop_database();
    EXPECT_EQ(message_.payload(), "m");
    auto ack = db_.start(message_.ack());
    db_.settle();
    EXPECT_EQ(ack.error(), errc::closed);
    message_ = message();
    EXPECT_EQ(leased(), "1");
}

} // namespace
