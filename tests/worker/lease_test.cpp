#include "support/plain_connection.hpp"
#include "support/statement_counter.hpp"
#include "support/temporary_directory.hpp"
#include "worker/worker_fixture.hpp"

#include <skein/json.hpp>

#include <asio/co_spawn.hpp>

#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::HasSubstr;

class WorkerLease : public support::worker_fixture {
protected:
    /// Handlers that wait, one for each of some jobs.
    support::operation<void> start_waiting(int jobs, const worker_options& options)
    {
        for (int i = 0; i < jobs; ++i) {
            enqueue();
        }
        const auto handler = [this](job&) -> asio::awaitable<void> {
            try {
                co_await gate_.pass();
            } catch (...) {
                ++cancelled_;
                throw;
            }
        };
        return start(handler, options);
    }

    /// When the leases end, in the order of the jobs.
    std::string ends()
    {
        return value("SELECT group_concat(claim_expires_at) FROM (SELECT claim_expires_at FROM"
                     " _honker_live WHERE state = 'processing' ORDER BY id)");
    }

    int cancelled_ = 0;
};

TEST_F(WorkerLease, IsExtendedAfterEachThirdOfItsLength)
{
    auto run = start_waiting(5, {.visibility = 30s});
    EXPECT_EQ(ends(), "130,130,130,130,130");
    db_.advance(9s);
    EXPECT_EQ(ends(), "130,130,130,130,130");
    db_.advance(1s);
    EXPECT_EQ(ends(), "140,140,140,140,140");
    for (int third = 2; third <= 10; ++third) {
        db_.advance(10s);
    }
    EXPECT_EQ(ends(), "230,230,230,230,230");
    gate_.open();
    db_.settle();
    EXPECT_EQ(left(), "0");
    stop(run);
}

TEST_F(WorkerLease, IsExtendedWithTheOthersInOneCommit)
{
    auto run = start_waiting(8, {.visibility = 30s});
    const support::statement_counter statements(db_.handle());
    db_.advance(10s);
    EXPECT_EQ(statements.count("SET claim_expires_at"), 8U);
    EXPECT_EQ(statements.count("COMMIT"), 1U);
    gate_.open();
}

TEST_F(WorkerLease, CostsNothingWhenNothingIsHeld)
{
    auto run = start_waiting(1, {.visibility = 30s});
    gate_.open();
    db_.advance(10s);
    const std::size_t alarms = db_.clock().alarms();
    const support::statement_counter statements(db_.handle());
    for (int i = 0; i < 100; ++i) {
        db_.advance(10s);
    }
    EXPECT_EQ(statements.count("COMMIT"), 0U);
    EXPECT_LE(db_.clock().alarms(), alarms);
    stop(run);
}

TEST_F(WorkerLease, IsExtendedForTheNextJobAfterAPauseWithoutAny)
{
    auto run = start_waiting(0, {.visibility = 30s});
    db_.advance(300s);
    enqueue();
    db_.advance(25s);
    db_.advance(25s);
    db_.advance(25s);
    EXPECT_EQ(gate_.waiting(), 1);
    EXPECT_EQ(ends(), "505");
    gate_.open();
}

TEST_F(WorkerLease, IsThatOfTheQueueUnlessToldOtherwise)
{
    auto run = start_waiting(1, {});
    EXPECT_EQ(ends(), "400");
    db_.advance(100s);
    EXPECT_EQ(ends(), "500");
    gate_.open();
}

TEST_F(WorkerLease, IsExtendedByThreesOfTheShortest)
{
    const skein::queue brief = db_.database().queue("brief", {.visibility = 3s});
    db_.run(brief.enqueue("1"));
    enqueue("2");
    const auto handler = [this](job&) -> asio::awaitable<void> { co_await gate_.pass(); };
    const queue_choice both{queue_, brief};
    auto run = db_.start(skein::run(both, handler));
    db_.settle();
    db_.advance(1s);
    EXPECT_EQ(ends(), "104,401");
    gate_.open();
}

TEST_F(WorkerLease, ThatIsLostCancelsItsHandlerAndNoOther)
{
    auto run = start_waiting(3, {.visibility = 30s});
    other_.sql("UPDATE _honker_live SET worker_id = 'another', attempts = 2 WHERE id = 2");
    db_.advance(9s);
    EXPECT_EQ(cancelled_, 0);
    db_.advance(1s);
    EXPECT_EQ(cancelled_, 1);
    EXPECT_EQ(gate_.waiting(), 2);
    EXPECT_EQ(value("SELECT worker_id FROM _honker_live WHERE id = 2"), "another");
    gate_.open();
    db_.settle();
    EXPECT_EQ(left(), "1") << "the other's";
    other_.sql("DELETE FROM _honker_live");
    stop(run);
}

TEST_F(WorkerLease, OfACancelledJobIsLost)
{
    auto run = start_waiting(1, {.visibility = 30s});
    EXPECT_TRUE(db_.run(queue_.cancel(1)));
    db_.advance(10s);
    EXPECT_EQ(cancelled_, 1);
    EXPECT_TRUE(warnings_->empty());
    stop(run);
}

TEST_F(WorkerLease, ThatIsLostLeavesTheHandlersEndWithoutEffect)
{
    enqueue();
    const auto handler = [this](job&) -> asio::awaitable<int> {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await gate_.pass();
        co_return 7;
    };
    auto run = start(handler, {.visibility = 30s});
    other_.sql("UPDATE _honker_live SET worker_id = 'another', attempts = 2");
    db_.advance(10s);
    gate_.open();
    db_.settle();
    EXPECT_EQ(value("SELECT worker_id FROM _honker_live"), "another");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_results"), "0");
    stop(run);
}

TEST_F(WorkerLease, ThatHasLapsedBeforeItsHandlerBeginsIsGivenBack)
{
    int calls = 0;
    const auto handler = [&calls](job&) -> asio::awaitable<void> {
        ++calls;
        co_return;
    };
    auto run = start(handler, {.visibility = 1s});
    auto enqueued = db_.start(queue_.enqueue("1"));
    while (value("SELECT count(*) FROM _honker_live WHERE state = 'processing'") == "0") {
        db_.context().restart();
        db_.context().run_one();
    }
    db_.clock().advance(5s); // another handler blocks the thread
    other_.sql("UPDATE _honker_live SET worker_id = 'another', attempts = 2,"
               " claim_expires_at = 1000");
    db_.settle();
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(value("SELECT worker_id FROM _honker_live"), "another");
    stop(run);
}

TEST_F(WorkerLease, TellsThatTheJobIsAskedToStop)
{
    auto run = start_waiting(2, {.visibility = 30s});
    EXPECT_TRUE(db_.run(queue_.request_stop(2)));
    db_.advance(9s);
    EXPECT_EQ(cancelled_, 0);
    db_.advance(1s);
    EXPECT_EQ(cancelled_, 1);
    EXPECT_EQ(state_of(1), "processing");
    EXPECT_EQ(state_of(2), "dead: the job was asked to stop");
    gate_.open();
    db_.settle();
    stop(run);
}

TEST_F(WorkerLease, OfAJobThatIsAskedToStopLeavesAHandlerThatReturnsDone)
{
    enqueue();
    const auto handler = [this](job& held) -> asio::awaitable<int> {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await gate_.pass();
        EXPECT_TRUE(held.stop_requested());
        co_return 7;
    };
    auto run = start(handler, {.visibility = 30s});
    EXPECT_TRUE(db_.run(queue_.request_stop(1)));
    db_.advance(10s);
    db_.advance(10s);
    gate_.open();
    db_.settle();
    EXPECT_EQ(left(), "0");
    EXPECT_EQ(value("SELECT value FROM _honker_results"), "7");
    stop(run);
}

TEST_F(WorkerLease, IsKeptWhenItHasLapsedAndNobodyHasTakenTheJob)
{
    auto run = start_waiting(1, {.concurrency = 1, .visibility = 30s});
    db_.advance(300s); // the machine has slept
    EXPECT_EQ(cancelled_, 0);
    EXPECT_EQ(ends(), "430");
    gate_.open();
    db_.settle();
    EXPECT_EQ(left(), "0");
}

TEST_F(WorkerLease, OfWhatTheHandlerHasSettledIsNoNews)
{
    enqueue();
    const auto handler = [this](job& held) -> asio::awaitable<void> {
        EXPECT_TRUE(co_await held.ack());
        co_await gate_.pass();
        ++cancelled_;
    };
    auto run = start(handler, {.visibility = 30s});
    db_.advance(10s);
    db_.advance(10s);
    gate_.open();
    db_.settle();
    EXPECT_EQ(cancelled_, 1) << "it has come to its end";
    stop(run);
}

TEST_F(WorkerLease, IsExtendedAlthoughAnotherOneIsRefused)
{
    auto run = start_waiting(3, {.visibility = 30s});
    other_.sql("CREATE TRIGGER refusal BEFORE UPDATE ON _honker_live WHEN NEW.id = 2"
               " BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    db_.advance(10s);
    EXPECT_EQ(ends(), "140,130,140");
    EXPECT_EQ(cancelled_, 0);
    other_.sql("DROP TRIGGER refusal");
    db_.advance(10s);
    EXPECT_EQ(ends(), "150,150,150");
    gate_.open();
}

TEST_F(WorkerLease, IsExtendedAgainAfterAFailure)
{
    auto run = start_waiting(1, {.visibility = 30s});
    other_.sql("BEGIN IMMEDIATE");
    for (int i = 0; i < 160; ++i) {
        db_.advance(100ms);
    }
    EXPECT_EQ(ends(), "130");
    ASSERT_FALSE(warnings_->empty());
    EXPECT_THAT(warnings_->front(), HasSubstr("the leases of a worker were not extended"));
    other_.sql("COMMIT");
    for (int i = 0; i < 20; ++i) {
        db_.advance(100ms);
    }
    EXPECT_EQ(cancelled_, 0);
    EXPECT_GE(std::stoi(ends()), 146);
    gate_.open();
}

TEST_F(WorkerLease, GoesOnDuringAStop)
{
    auto run = start_waiting(1, {.visibility = 3s, .soft_deadline = 60s, .hard_deadline = 60s});
    run.cancel();
    for (int i = 0; i < 50; ++i) {
        db_.advance(1s);
    }
    EXPECT_EQ(ends(), "153");
    gate_.open();
    db_.settle();
    EXPECT_TRUE(run.is_done());
    EXPECT_EQ(left(), "0");
}

/// With a thread of its own the database extends leases whatever the handlers do with theirs.
TEST(WorkerLeaseOfABlockedThread, IsExtended)
{
    const support::temporary_directory directory;
    const auto time = std::make_shared<skein::testing::manual_clock>();
    const database db(directory / "test.db", {.durability = durability::off, .clock = time});
    const skein::queue jobs = db.queue("q");
    asio::io_context context;
    support::run_coroutine(context, jobs.enqueue("1"));
    const support::plain_connection other(directory / "test.db");
    const auto handler = [&](job&) -> asio::awaitable<void> {
        for (int third = 1; third <= 5; ++third) {
            time->advance(10s); // and this thread does nothing else until it is seen
            const std::string wanted = std::to_string(130 + 10 * third);
            while (other.value("SELECT claim_expires_at FROM _honker_live") != wanted) {
                std::this_thread::yield();
            }
        }
        co_return;
    };
    support::operation<void> run(context, skein::run(jobs, handler, {.visibility = 30s}));
    support::run_until(context,
                       [&] { return other.value("SELECT count(*) FROM _honker_live") == "0"; });
    run.cancel();
    support::run_until(context, [&] { return run.is_done(); });
    EXPECT_NO_THROW(run.result());
}

} // namespace
