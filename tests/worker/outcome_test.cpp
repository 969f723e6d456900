#include "worker/worker_fixture.hpp"

#include <skein/json.hpp>

#include <SQLiteCpp/Database.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::HasSubstr;

/// What comes of a job, by how its handler ends.
class Outcome : public support::worker_fixture {
protected:
    /// One job, worked on; the run goes on.
    template <class Handler>
    std::int64_t work(const Handler& handler, const enqueue_options& how = {},
                      const worker_options& options = {})
    {
        const std::int64_t id = enqueue("7", how);
        run_ = start(handler, options);
        return id;
    }

    std::string column(const std::string& name, std::int64_t id)
    {
        return value("SELECT " + name + " FROM _honker_live WHERE id = " + std::to_string(id));
    }

    std::optional<std::string> result_of(std::int64_t id)
    {
        return db_.run(db_.database().results().get(id));
    }

    std::optional<support::operation<void>> run_;
};

TEST_F(Outcome, OfAReturnIsDone)
{
    const auto handler = [](job&) -> asio::awaitable<void> { co_return; };
    const std::int64_t id = work(handler);
    EXPECT_EQ(state_of(id), "gone");
    EXPECT_EQ(result_of(id), std::nullopt);
}

TEST_F(Outcome, OfAValueIsKeptAsTheResult)
{
    const auto handler = [](int number) -> asio::awaitable<std::vector<int>> {
        co_return std::vector<int>{number, number + 1};
    };
    const std::int64_t id = work(handler, {}, {.result_ttl = 10s});
    EXPECT_EQ(state_of(id), "gone");
    EXPECT_EQ(result_of(id), "[7,8]");
    db_.advance(10s);
    EXPECT_EQ(result_of(id), std::nullopt);
}

TEST_F(Outcome, OfTextIsKeptAsItIs)
{
    const auto handler = [](job&) -> asio::awaitable<std::string> { co_return R"({ "a": 1 })"; };
    const std::int64_t id = work(handler);
    EXPECT_EQ(result_of(id), R"({ "a": 1 })");
    db_.advance(24h);
    EXPECT_EQ(result_of(id), R"({ "a": 1 })");
}

TEST_F(Outcome, ReachesWhoWaitsForTheResult)
{
    const auto handler = [](int number) -> asio::awaitable<int> { co_return number * 2; };
    const std::int64_t id = enqueue("21");
    auto waiting = db_.start(db_.database().results().wait(id));
    run_ = start(handler);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().result, "42");
}

TEST_F(Outcome, AndTheResultAreOneCommit)
{
    db_.run(db_.database().results().save(1, "1")); // the table is there
    other_.sql("CREATE TRIGGER refusal BEFORE INSERT ON _honker_results"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    const auto handler = [](job&) -> asio::awaitable<int> { co_return 7; };
    const std::int64_t id = work(handler);
    EXPECT_EQ(state_of(id), "processing") << "no result, so it is not done either";
    other_.sql("DROP TRIGGER refusal");
    db_.advance(1s);
    EXPECT_EQ(state_of(id), "gone");
    EXPECT_EQ(result_of(id), "7");
}

TEST_F(Outcome, OfWhatIsNoJsonIsAFailure)
{
    const auto handler = [](job&) -> asio::awaitable<std::string> { co_return "{"; };
    const std::int64_t id = work(handler, {.max_attempts = 1});
    EXPECT_THAT(state_of(id), HasSubstr("dead: what the handler has returned cannot be kept"));
}

TEST_F(Outcome, OfAnExceptionIsAnotherAttemptAfterThePause)
{
    const auto handler = [](job&) -> asio::awaitable<void> {
        co_await asio::this_coro::executor;
        throw std::runtime_error("the server is down");
    };
    const std::int64_t id =
        work(handler, {.max_attempts = 5}, {.backoff = {.first = 1s, .most = 1s}});
    EXPECT_EQ(column("state", id), "scheduled");
    EXPECT_EQ(column("run_at", id), "101");
    EXPECT_EQ(column("attempts", id), "1");
    db_.advance(1s);
    EXPECT_EQ(column("attempts", id), "2");
}

TEST_F(Outcome, OfAnExceptionComesBackWithinItsGrowingPause)
{
    const auto handler = [](job&) -> asio::awaitable<void> {
        co_await asio::this_coro::executor;
        throw std::runtime_error("no");
    };
    const std::int64_t id =
        work(handler, {.max_attempts = 20}, {.backoff = {.first = 2s, .most = 60s}});
    int at = 100;
    for (int cap = 2; cap <= 64; cap *= 2) {
        const int due = std::stoi(column("run_at", id));
        EXPECT_GT(due, at);
        EXPECT_LE(due, at + std::min(cap, 60));
        db_.advance(std::chrono::seconds{due - at});
        at = due;
    }
    EXPECT_EQ(column("attempts", id), "7");
}

TEST_F(Outcome, OfTheLastExceptionIsADeadLetterWithItsText)
{
    const auto handler = [](job&) -> asio::awaitable<void> {
        co_await asio::this_coro::executor;
        throw std::runtime_error("the server is \xff down");
    };
    const std::int64_t id = work(handler, {.max_attempts = 1});
    EXPECT_EQ(state_of(id), "dead: the server is \uFFFD down");
}

TEST_F(Outcome, OfWhatIsNoExceptionIsAFailureToo)
{
    const auto handler = [](job&) -> asio::awaitable<void> {
        co_await asio::this_coro::executor;
        throw 7;
    };
    const std::int64_t id = work(handler, {.max_attempts = 1});
    EXPECT_EQ(state_of(id), "dead: unknown exception");
}

TEST_F(Outcome, OfAPermanentFailureIsADeadLetterAtOnce)
{
    const auto handler = [](job&) -> asio::awaitable<void> {
        co_await asio::this_coro::executor;
        throw permanent_failure("there is no such customer");
    };
    const std::int64_t id = work(handler, {.max_attempts = 5});
    EXPECT_EQ(state_of(id), "dead: there is no such customer");
}

TEST_F(Outcome, OfASnoozeIsPutOffAndNotCounted)
{
    int calls = 0;
    const auto handler = [&](job&) -> asio::awaitable<void> {
        co_await asio::this_coro::executor;
        if (++calls < 100) {
            throw snooze(1500ms);
        }
    };
    const std::int64_t id = work(handler, {.max_attempts = 1});
    EXPECT_EQ(column("state", id), "scheduled");
    EXPECT_EQ(column("run_at", id), "102") << "whole seconds, rounded up";
    for (int i = 1; i < 100; ++i) {
        db_.advance(2s);
    }
    EXPECT_EQ(calls, 100);
    EXPECT_EQ(state_of(id), "gone");
}

TEST_F(Outcome, OfAnUndecodablePayloadIsADeadLetterAndTheOthersGoOn)
{
    std::vector<std::int64_t> ids;
    for (const char* payload : {"1", "2", R"("three")", "4", "5"}) {
        ids.push_back(enqueue(payload));
    }
    int sum = 0;
    const auto handler = [&](int number) -> asio::awaitable<void> {
        sum += number;
        co_return;
    };
    run_ = start(handler, {.concurrency = 5});
    EXPECT_EQ(sum, 12);
    EXPECT_THAT(state_of(ids[2]), HasSubstr("dead: the payload cannot be decoded: "));
    EXPECT_EQ(left(), "0");
}

TEST_F(Outcome, IsTheHandlersWhenItSettlesTheJobItself)
{
    other_.sql("CREATE TABLE account (job)");
    int calls = 0;
    const auto handler = [&](job& held) -> asio::awaitable<void> {
        ++calls;
        const auto both = [&](transaction& tx) {
            EXPECT_TRUE(held.ack(tx));
            tx.database().exec("INSERT INTO account VALUES (7)");
        };
        co_await db_.database().transaction(both);
    };
    const std::int64_t id = work(handler);
    EXPECT_EQ(state_of(id), "gone");
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(value("SELECT count(*) FROM account"), "1");
}

TEST_F(Outcome, IsTheHandlersWhenItMovesTheJobAway)
{
    job kept;
    const auto handler = [&](job& held) -> asio::awaitable<void> {
        kept = std::move(held);
        co_return;
    };
    const std::int64_t id = work(handler);
    EXPECT_EQ(state_of(id), "processing");
    stop(*run_);
    EXPECT_EQ(state_of(id), "processing");
    EXPECT_TRUE(db_.run(kept.ack()));
    EXPECT_EQ(state_of(id), "gone");
}

TEST_F(Outcome, IsTheHandlersWhenItDetachesTheJob)
{
    job_fence fence;
    const auto handler = [&](job& held) -> asio::awaitable<void> {
        fence = held.detach();
        co_return;
    };
    const std::int64_t id = work(handler);
    EXPECT_EQ(state_of(id), "processing");
    stop(*run_);
    EXPECT_TRUE(db_.run(queue_.ack(fence)));
}

TEST_F(Outcome, OfAFailureAfterTheHandlersOwnEndChangesNothing)
{
    const auto handler = [](job& held) -> asio::awaitable<void> {
        const bool is_ours = co_await held.ack();
        throw std::runtime_error(is_ours ? "too late" : "not ours");
    };
    const std::int64_t id = work(handler);
    EXPECT_EQ(state_of(id), "gone");
    stop(*run_);
}

TEST_F(Outcome, OfATimeLimitIsAFailure)
{
    const auto handler = [this](job&) -> asio::awaitable<void> { co_await gate_.pass(); };
    const std::int64_t id = work(handler, {.max_attempts = 1}, {.time_limit = 30s});
    db_.advance(29s);
    EXPECT_EQ(gate_.waiting(), 1);
    db_.advance(1s);
    EXPECT_EQ(gate_.waiting(), 0);
    EXPECT_EQ(state_of(id), "dead: the time limit has passed");
}

TEST_F(Outcome, OfATimeLimitCountsFromTheHandlersBeginning)
{
    const auto handler = [this](job& held) -> asio::awaitable<void> {
        if (held.payload() == "1") {
            db_.clock().advance(40s); // blocks the thread
            co_return;
        }
        co_await gate_.pass();
    };
    enqueue("1");
    enqueue("2");
    auto run = start(handler, {.concurrency = 2, .time_limit = 30s});
    EXPECT_EQ(gate_.waiting(), 1);
    db_.advance(29s);
    EXPECT_EQ(gate_.waiting(), 1);
    db_.advance(1s);
    EXPECT_EQ(gate_.waiting(), 0);
    stop(run);
}

TEST_F(Outcome, OfATimeLimitThatIsNotHeededIsTheHandlers)
{
    const auto handler = [this](job&) -> asio::awaitable<void> {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await gate_.pass();
    };
    const std::int64_t id = work(handler, {.max_attempts = 1}, {.time_limit = 30s});
    db_.advance(60s);
    EXPECT_EQ(gate_.waiting(), 1);
    gate_.open();
    db_.settle();
    EXPECT_EQ(state_of(id), "gone");
}

TEST_F(Outcome, OfAHandlerThatEnqueuesIsBoth)
{
    const auto handler = [this](int number) -> asio::awaitable<void> {
        if (number > 0) {
            co_await queue_.enqueue(std::to_string(number - 1));
        }
    };
    work(handler);
    EXPECT_EQ(left(), "0");
    EXPECT_EQ(value("SELECT seq FROM sqlite_sequence WHERE name = '_honker_live'"), "8");
}

} // namespace
