#include "runtime/running_queue.hpp"

#include "support/other_process.hpp"
#include "support/run_coroutine.hpp"

#include <gmock/gmock.h>

namespace {

using namespace std::chrono_literals;
using skein::errc;
using skein::support::statement_counter;
using testing::ElementsAre;
using testing::IsEmpty;

/// Another connection holds the write lock. That it is one of this process makes no difference to
/// SQLite, and the test decides how long it does.
class LockContention : public skein::support::running_queue {
protected:
    void lock() { other_.sql("BEGIN IMMEDIATE"); }
    void unlock() { other_.sql("COMMIT"); }

    /// Lets the database's time pass in steps of a pause, as a real clock does.
    void pass(std::chrono::milliseconds time)
    {
        for (std::chrono::milliseconds passed{0}; passed < time; ++passed) {
            db_.advance(1ms);
        }
    }
};

TEST_F(LockContention, IsWaitedForWithoutBlockingTheThread)
{
    lock();
    const auto publish = start_publish("m");
    pass(2s); // the thread comes back each time
    EXPECT_FALSE(publish.is_done());
    unlock();
    pass(5ms);
    EXPECT_TRUE(publish.is_done());
    EXPECT_FALSE(publish.has_failed());
    EXPECT_THAT(payloads(), ElementsAre("m"));
}

asio::awaitable<void> tick(int& ticks, const bool& stop)
{
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (!stop) {
        timer.expires_after(1ms);
        co_await timer.async_wait(asio::use_awaitable);
        ++ticks;
    }
}

TEST_F(LockContention, LetsOthersOnTheExecutorRun)
{
    skein::database real(db_.context().get_executor(), db_.path());
    const skein::transport queue = real.transport();
    db_.run(queue.publish("g", "before"));
    lock();
    int ticks = 0;
    bool stop = false;
    const auto ticking = db_.start(tick(ticks, stop));
    auto publish = db_.start(queue.publish("g", "m"));
    skein::support::run_until(db_.context(), [&] { return ticks >= 20; });
    EXPECT_FALSE(publish.is_done());
    unlock();
    skein::support::run_until(db_.context(), [&] { return publish.is_done(); });
    EXPECT_FALSE(publish.has_failed());
    stop = true;
    skein::support::run_until(db_.context(), [&] { return ticking.is_done(); });
}

TEST_F(LockContention, EndsWithBusyAfterTheTimeout)
{
    lock();
    auto publish = start_publish("m");
    const auto work = start_transaction([](auto&) { FAIL() << "called without the lock"; });
    pass(4990ms);
    EXPECT_FALSE(publish.is_done());
    pass(100ms);
    EXPECT_EQ(publish.error(), errc::busy);
    EXPECT_EQ(work.error(), errc::busy);
    unlock();
    pass(5ms);
    EXPECT_THAT(payloads(), IsEmpty());
    EXPECT_NO_THROW(this->publish("later"));
    try {
        publish.result();
    } catch (const skein::error& failure) {
        EXPECT_TRUE(failure.is_retryable());
        EXPECT_THAT(failure.what(), testing::HasSubstr(db_.path().string()));
    }
}

TEST_F(LockContention, IsCountedForEachOperationFromItsOwnStart)
{
    lock();
    const auto first = start_publish("first");
    pass(4s);
    const auto second = start_publish("second");
    pass(1100ms);
    EXPECT_EQ(first.error(), errc::busy);
    EXPECT_FALSE(second.is_done());
    unlock();
    pass(5ms);
    EXPECT_TRUE(second.is_done());
    EXPECT_FALSE(second.has_failed());
}

TEST_F(LockContention, DoesNotKeepALimitFromRunningOut)
{
    publish("m");
    lock();
    auto claim = db_.start(queue_.claim_within(100ms));
    auto blocked = start_publish("blocked");
    pass(90ms);
    EXPECT_FALSE(claim.is_done());
    pass(20ms);
    ASSERT_TRUE(claim.is_done());
    EXPECT_FALSE(claim.result());
    unlock();
    pass(5ms);
    EXPECT_EQ(leased(), "0");
    EXPECT_TRUE(blocked.is_done());
}

TEST_F(LockContention, IsNothingToAClaimThatFindsNothing)
{
    lock();
    auto claim = db_.start(queue_.try_claim());
    db_.settle();
    ASSERT_TRUE(claim.is_done());
    EXPECT_FALSE(claim.result());
    auto waiting = start_claim();
    pass(6s);
    EXPECT_FALSE(waiting.is_done());
    unlock();
}

TEST_F(LockContention, EndsAClaimOfNowWithBusyWhenThereIsSomething)
{
    publish("m");
    lock();
    auto claim = db_.start(queue_.try_claim());
    pass(4990ms);
    EXPECT_FALSE(claim.is_done());
    pass(100ms);
    EXPECT_EQ(claim.error(), errc::busy);
    unlock();
    EXPECT_EQ(peek(), "m");
}

TEST_F(LockContention, EndsAWaiterThatCannotTakeItsMessageWithBusy)
{
    publish("m");
    lock();
    auto claim = start_claim();
    pass(5100ms);
    EXPECT_EQ(claim.error(), errc::busy);
    unlock();
    EXPECT_EQ(peek(), "m");
}

TEST_F(LockContention, DoesNotKeepAnOperationFromBeingCancelled)
{
    publish("m");
    lock();
    auto publish = start_publish("cancelled");
    auto claim = start_claim();
    auto now = db_.start(queue_.try_claim());
    pass(100ms);
    publish.cancel();
    claim.cancel();
    now.cancel();
    db_.settle();
    EXPECT_EQ(publish.error(), asio::error::operation_aborted);
    EXPECT_EQ(claim.error(), asio::error::operation_aborted);
    EXPECT_EQ(now.error(), asio::error::operation_aborted);
    unlock();
    pass(5ms);
    EXPECT_THAT(payloads(), ElementsAre("m"));
    EXPECT_EQ(leased(), "0");
}

TEST_F(LockContention, DoesNotKeepADatabaseFromClosing)
{
    publish("m");
    lock();
    auto publish = start_publish("blocked");
    auto claim = start_claim();
    const auto look = [](const SQLite::Database&) {};
    pass(100ms);
    auto reading = db_.start(db_.database().read(look));
    auto closing = db_.start(db_.database().close());
    db_.settle();
    EXPECT_TRUE(closing.is_done());
    EXPECT_EQ(publish.error(), errc::closed);
    EXPECT_EQ(claim.error(), errc::closed);
    EXPECT_TRUE(reading.is_done());
    unlock();
    db_.reopen();
    EXPECT_THAT(payloads(), ElementsAre("m"));
}

TEST_F(LockContention, LeavesTheOthersAGapOnceItIsOver)
{
    statement_counter statements(handle_);
    lock();
    const auto publisher = start_publish("first");
    pass(10ms);
    unlock();
    // A coroutine that publishes again and again never lets the queue become empty.
    bool stop = false;
    int published = 0;
    const auto again = [&]() -> asio::awaitable<void> {
        while (!stop) {
            co_await queue_.publish("g", "again");
            ++published;
        }
    };
    const auto busy = db_.start(again());
    // `settle` would run for ever if nothing ever paused.
    db_.context().restart();
    for (int each = 0; each < 1000 && db_.context().poll_one() != 0; ++each) {
    }
    db_.clock().advance(1ms);
    for (int each = 0; each < 1000 && db_.context().poll_one() != 0; ++each) {
    }
    EXPECT_LE(published, 1) << "the others get no turn after the first batch";
    stop = true;
    pass(5ms);
}

TEST_F(LockContention, IsAskedForAgainAfterEachPause)
{
    statement_counter statements(handle_);
    lock();
    const auto publish = start_publish("m");
    pass(100ms);
    EXPECT_GE(statements.count("BEGIN IMMEDIATE"), 90u);
    unlock();
    pass(5ms);
}

class RollbackJournal : public skein::support::running_queue,
                        public testing::WithParamInterface<skein::journal_mode> {
protected:
    RollbackJournal() : running_queue({.journal = GetParam()}) {}

    void pass(std::chrono::milliseconds time)
    {
        for (std::chrono::milliseconds passed{0}; passed < time; ++passed) {
            db_.advance(1ms);
        }
    }
};

TEST_P(RollbackJournal, WaitsForAReaderOfAnotherProcess)
{
    publish("before");
    skein::support::other_process reader(db_.path());
    reader.sql("BEGIN; SELECT * FROM t");
    auto publish = start_publish("m");
    pass(100ms);
    EXPECT_FALSE(publish.is_done());
    reader.sql("COMMIT");
    pass(5ms);
    EXPECT_TRUE(publish.is_done());
    EXPECT_FALSE(publish.has_failed());
    EXPECT_THAT(payloads(), ElementsAre("before", "m"));
}

TEST_P(RollbackJournal, EndsWithBusyWhenAReaderStays)
{
    skein::support::other_process reader(db_.path());
    reader.sql("BEGIN; SELECT * FROM t");
    auto publish = start_publish("m");
    pass(5100ms);
    EXPECT_EQ(publish.error(), errc::busy);
    reader.sql("COMMIT");
    pass(5ms);
    EXPECT_THAT(payloads(), IsEmpty());
    EXPECT_NO_THROW(this->publish("later"));
}

TEST_P(RollbackJournal, WaitsForAWriterOfAnotherProcessBeforeItReads)
{
    publish("m");
    skein::support::other_process writer(db_.path());
    writer.sql("BEGIN EXCLUSIVE");
    const auto look = [](const SQLite::Database&) { return 7; };
    auto reading = db_.start(db_.database().read(look));
    auto claim = db_.start(queue_.try_claim());
    auto waiting = start_claim();
    pass(100ms);
    EXPECT_FALSE(reading.is_done());
    EXPECT_FALSE(claim.is_done());
    writer.sql("COMMIT");
    pass(5ms);
    ASSERT_TRUE(reading.is_done());
    EXPECT_EQ(reading.result(), 7);
    ASSERT_TRUE(claim.is_done());
    EXPECT_EQ(claim.result()->payload(), "m");
}

TEST_P(RollbackJournal, EndsAReadingWithBusyWhenAWriterStays)
{
    skein::support::other_process writer(db_.path());
    writer.sql("BEGIN EXCLUSIVE");
    const auto look = [](const SQLite::Database&) {};
    auto reading = db_.start(db_.database().read(look));
    pass(5100ms);
    EXPECT_EQ(reading.error(), errc::busy);
    writer.sql("COMMIT");
    EXPECT_NO_THROW(db_.run(db_.database().read(look)));
}

TEST_P(RollbackJournal, WakesAWaiterForACommitOfAnotherProcess)
{
    auto waiting = start_claim();
    db_.settle();
    skein::support::other_process writer(db_.path());
    writer.sql("BEGIN IMMEDIATE; INSERT INTO harel_transport_groups (group_id) VALUES ('g');"
               " INSERT INTO harel_transport_messages (group_id, event) VALUES ('g', 'm')");
    pass(10ms);
    EXPECT_FALSE(waiting.is_done());
    writer.sql("COMMIT");
    pass(5ms);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "m");
}

INSTANTIATE_TEST_SUITE_P(Modes, RollbackJournal,
                         testing::Values(skein::journal_mode::truncate,
                                         skein::journal_mode::persist,
                                         skein::journal_mode::remove));

} // namespace
