#include "worker/worker_fixture.hpp"

#include <SQLiteCpp/Database.h>

#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

class WorkerFailure : public support::worker_fixture {
protected:
    auto counting()
    {
        return [this](job&) -> asio::awaitable<void> {
            ++calls_;
            co_return;
        };
    }

    void pass(int seconds)
    {
        for (int i = 0; i < 10 * seconds; ++i) {
            db_.advance(100ms);
        }
    }

    /// Lets the file have so many pages at most.
    void limit_pages(const std::string& pages)
    {
        const auto limit = [&](transaction& tx) {
            return tx.database().execAndGet("PRAGMA max_page_count = " + pages).getInt();
        };
        db_.run(db_.database().transaction(limit));
    }

    int calls_ = 0;
};

TEST_F(WorkerFailure, OfAClaimIsSaidAndTriedAgain)
{
    auto run = start(counting());
    other_.sql("CREATE TRIGGER refusal BEFORE UPDATE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    const std::int64_t id = enqueue();
    ASSERT_EQ(warnings_->size(), 1U);
    EXPECT_THAT(warnings_->back(), HasSubstr("no jobs are claimed: "));
    EXPECT_THAT(warnings_->back(), HasSubstr("not now"));
    EXPECT_EQ(calls_, 0);
    other_.sql("DROP TRIGGER refusal");
    db_.advance(100ms);
    EXPECT_EQ(calls_, 1);
    EXPECT_EQ(state_of(id), "gone");
    stop(run);
}

TEST_F(WorkerFailure, OfClaimsIsTriedAfterPausesThatGrow)
{
    auto run = start(counting());
    other_.sql("CREATE TRIGGER refusal BEFORE UPDATE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    enqueue();
    pass(600);
    // About 8 until the pauses have come to their longest, then one in 15 to 30 s.
    EXPECT_GT(warnings_->size(), 20U);
    EXPECT_LT(warnings_->size(), 60U);
    other_.sql("DROP TRIGGER refusal");
    pass(30);
    EXPECT_EQ(calls_, 1);
    stop(run);
}

TEST_F(WorkerFailure, WhileItPausesIsStoppedAtOnce)
{
    auto run = start(counting());
    other_.sql("CREATE TRIGGER refusal BEFORE UPDATE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    enqueue();
    stop(run);
}

TEST_F(WorkerFailure, OfALockedFileIsWaitedFor)
{
    auto run = start(counting());
    enqueue();
    EXPECT_EQ(calls_, 1);
    other_.sql("INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', '1', 100)");
    other_.sql("BEGIN IMMEDIATE");
    pass(10); // longer than the database waits for a lock
    EXPECT_THAT(warnings_->at(0), HasSubstr("no jobs are claimed: "));
    other_.sql("COMMIT");
    pass(1);
    EXPECT_EQ(calls_, 2);
    EXPECT_EQ(left(), "0");
    stop(run);
}

TEST_F(WorkerFailure, OfAnAckByALockedFileIsTriedAgainAndNothingRunsTwice)
{
    const std::int64_t id = enqueue();
    const auto handler = [this](job&) -> asio::awaitable<void> {
        ++calls_;
        co_await gate_.pass();
    };
    auto run = start(handler);
    other_.sql("BEGIN IMMEDIATE");
    gate_.open();
    pass(20);
    EXPECT_EQ(state_of(id), "processing");
    EXPECT_THAT(*warnings_, Each(HasSubstr("of 1 jobs was not written down: ")));
    other_.sql("COMMIT");
    pass(10);
    EXPECT_EQ(state_of(id), "gone");
    EXPECT_EQ(calls_, 1);
    stop(run);
}

TEST_F(WorkerFailure, OfAnAckByAFullDiskIsTriedAgainAndNothingRunsTwice)
{
    enqueue();
    const auto handler = [this](job&) -> asio::awaitable<std::string> {
        ++calls_;
        co_await gate_.pass();
        co_return '"' + std::string(100'000, 'x') + '"';
    };
    auto run = start(handler);
    limit_pages("1"); // as many as there are
    gate_.open();
    pass(20);
    EXPECT_EQ(count("processing"), "1");
    ASSERT_FALSE(warnings_->empty());
    EXPECT_THAT(warnings_->front(), HasSubstr("full"));
    limit_pages("1000000");
    pass(30);
    EXPECT_EQ(left(), "0");
    EXPECT_EQ(value("SELECT length(value) FROM _honker_results"), "100002");
    EXPECT_EQ(calls_, 1);
    stop(run);
}

TEST_F(WorkerFailure, OfOneEndDoesNotKeepTheOthers)
{
    for (int i = 0; i < 5; ++i) {
        enqueue();
    }
    other_.sql("CREATE TRIGGER refusal BEFORE DELETE ON _honker_live WHEN OLD.id = 3"
               " BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    auto run = start(counting());
    pass(1);
    EXPECT_EQ(left(), "1");
    EXPECT_EQ(state_of(3), "processing");
    other_.sql("DROP TRIGGER refusal");
    pass(60);
    EXPECT_EQ(left(), "0");
    EXPECT_EQ(calls_, 5);
    stop(run);
}

TEST_F(WorkerFailure, OfEndsTakesThePlacesOfOtherJobs)
{
    for (int i = 0; i < 10; ++i) {
        enqueue();
    }
    other_.sql("CREATE TRIGGER refusal BEFORE DELETE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    auto run = start(counting(), {.concurrency = 2});
    pass(60);
    EXPECT_LE(calls_, 4) << "what was claimed with the first try, and no more";
    other_.sql("DROP TRIGGER refusal");
    pass(60);
    EXPECT_EQ(calls_, 10);
    EXPECT_EQ(left(), "0");
    stop(run);
}

TEST_F(WorkerFailure, OfAnEndIsGivenUpWhenTheLeaseHasLapsed)
{
    enqueue();
    other_.sql("CREATE TRIGGER refusal BEFORE DELETE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END;"
               "CREATE TRIGGER no_heartbeat BEFORE UPDATE ON _honker_live WHEN"
               " NEW.attempts = OLD.attempts BEGIN SELECT RAISE(ABORT, 'nor that'); END");
    const auto handler = [this](job&) -> asio::awaitable<void> {
        ++calls_;
        co_return;
    };
    auto run = start(handler, {.concurrency = 1, .visibility = 30s});
    pass(25);
    EXPECT_EQ(calls_, 1);
    other_.sql("DROP TRIGGER refusal");
    pass(60);
    EXPECT_EQ(left(), "0");
    EXPECT_LE(calls_, 2) << "at least once";
    stop(run);
}

TEST_F(WorkerFailure, OfAnEndIsTriedOnceMoreAtTheHardDeadline)
{
    enqueue();
    other_.sql("CREATE TRIGGER refusal BEFORE DELETE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    auto run = start(counting(), {.soft_deadline = 5s, .hard_deadline = 9s});
    pass(60); // its pauses are long now
    run.cancel();
    pass(8);
    EXPECT_FALSE(run.is_done());
    pass(1);
    ASSERT_TRUE(run.is_done());
    EXPECT_NO_THROW(run.result());
    EXPECT_EQ(count("processing"), "1") << "its work is done: only the lease ends";
    EXPECT_THAT(warnings_->back(), HasSubstr("1 of them are given up"));
}

TEST_F(WorkerFailure, ThatIsFinalEndsItWhenTheHandlersHaveEnded)
{
    enqueue();
    const auto handler = [this](job&) -> asio::awaitable<void> {
        ++calls_;
        co_await gate_.pass();
    };
    auto run = start(handler);
    db_.run(db_.database().close());
    EXPECT_FALSE(run.is_done());
    gate_.open();
    db_.settle();
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::closed);
}

TEST_F(WorkerFailure, ThatIsFinalEndsAnIdleOneAtOnce)
{
    auto run = start(counting());
    db_.run(db_.database().close());
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::closed);
    auto late = start(counting());
    ASSERT_TRUE(late.is_done());
    EXPECT_EQ(late.error(), errc::closed);
}

TEST_F(WorkerFailure, ThatIsFinalCancelsHandlersAtTheSoftDeadline)
{
    enqueue();
    const auto handler = [this](job&) -> asio::awaitable<void> { co_await gate_.pass(); };
    auto run = start(handler, {.soft_deadline = 10s, .hard_deadline = 20s});
    db_.run(db_.database().close());
    db_.advance(10s);
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::closed);
}

TEST_F(WorkerFailure, ThatIsFinalIsNoticedWhenAllPlacesAreTaken)
{
    enqueue();
    const auto handler = [this](job&) -> asio::awaitable<void> { co_await gate_.pass(); };
    auto run = start(handler, {.concurrency = 1, .soft_deadline = 10s, .hard_deadline = 20s});
    EXPECT_EQ(gate_.waiting(), 1);
    db_.run(db_.database().close());
    db_.advance(9s);
    EXPECT_FALSE(run.is_done());
    db_.advance(1s);
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(run.error(), errc::closed);
}

TEST_F(WorkerFailure, IsToldWithoutThePayload)
{
    enqueue(R"("a secret")");
    other_.sql("CREATE TRIGGER refusal BEFORE DELETE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    const auto handler = [](std::string_view payload) -> asio::awaitable<void> {
        co_await asio::this_coro::executor;
        throw permanent_failure(std::string(payload));
    };
    auto run = start(handler);
    pass(10);
    EXPECT_FALSE(warnings_->empty());
    EXPECT_THAT(*warnings_, Each(Not(HasSubstr("secret"))));
    other_.sql("DROP TRIGGER refusal");
}

} // namespace
