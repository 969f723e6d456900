#include "worker/worker_fixture.hpp"

#include <asio/post.hpp>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::operation;
using ::testing::HasSubstr;

class WorkerStop : public support::worker_fixture {
protected:
    /// Handlers that wait at the gate, one for each of some jobs.
    operation<void> start_waiting(int jobs, const worker_options& options = {})
    {
        for (int i = 0; i < jobs; ++i) {
            enqueue();
        }
        const auto handler = [this](std::string_view) -> asio::awaitable<void> {
            co_await gate_.pass();
        };
        return start(handler, options);
    }

    /// One that does not heed any cancellation.
    operation<void> start_deaf(const worker_options& options = {})
    {
        enqueue();
        const auto handler = [this](std::string_view) -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            co_await gate_.pass();
            co_await queue_.enqueue("8"); // the database is still there for it
            ++deaf_ends_;
        };
        return start(handler, options);
    }

    int deaf_ends_ = 0;
};

TEST_F(WorkerStop, OfAnIdleOneReturnsAtOnce)
{
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        auto run = start_waiting(0);
        EXPECT_FALSE(run.is_done());
        run.cancel(type);
        db_.settle();
        ASSERT_TRUE(run.is_done());
        EXPECT_NO_THROW(run.result());
    }
    const std::int64_t id = enqueue();
    EXPECT_EQ(state_of(id), "pending") << "nobody claims any more";
}

TEST_F(WorkerStop, LeavesNoAlarmBehind)
{
    const std::size_t before = db_.clock().alarms();
    gate_.open();
    for (int i = 0; i < 10; ++i) {
        auto run = start_waiting(i % 3, {.time_limit = 10s});
        EXPECT_EQ(left(), "0");
        stop(run);
        EXPECT_EQ(db_.clock().alarms(), before) << "a context would not end before it rings";
    }
}

TEST_F(WorkerStop, WaitsForAllHandlersOfWhateverLength)
{
    std::vector<std::unique_ptr<support::gate>> gates;
    for (int i = 0; i < 12; ++i) {
        gates.push_back(std::make_unique<support::gate>(db_.context()));
        enqueue(std::to_string(i));
    }
    int ends = 0;
    const auto handler = [&](std::string_view number) -> asio::awaitable<void> {
        co_await gates[std::stoul(std::string(number))]->pass();
        ++ends;
    };
    auto run = start(handler, {.concurrency = 12});
    run.cancel();
    for (int i = 0; i < 12; ++i) {
        db_.settle();
        ASSERT_FALSE(run.is_done());
        EXPECT_EQ(ends, i);
        gates[static_cast<std::size_t>(i * 5 % 12)]->open();
    }
    db_.settle();
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(ends, 12);
    EXPECT_EQ(left(), "0");
}

TEST_F(WorkerStop, ClaimsNothingAnyMore)
{
    auto run = start_waiting(1);
    run.cancel();
    const std::int64_t id = enqueue();
    db_.advance(1s);
    EXPECT_EQ(state_of(id), "pending");
    gate_.open();
    db_.settle();
    EXPECT_TRUE(run.is_done());
    EXPECT_EQ(state_of(id), "pending");
}

TEST_F(WorkerStop, CancelsTheHandlersAtItsSoftDeadline)
{
    auto run = start_waiting(3, {.soft_deadline = 10s, .hard_deadline = 20s});
    db_.advance(60s);
    run.cancel();
    db_.advance(9s);
    EXPECT_EQ(gate_.waiting(), 3);
    EXPECT_FALSE(run.is_done());
    db_.advance(1s);
    EXPECT_EQ(gate_.waiting(), 0);
    ASSERT_TRUE(run.is_done());
    EXPECT_NO_THROW(run.result());
    EXPECT_EQ(count("pending"), "3") << "given back, and due at once";
    EXPECT_EQ(value("SELECT DISTINCT attempts FROM _honker_live"), "1");
}

TEST_F(WorkerStop, GivesBackUncountedWhatNobodyHasLookedAt)
{
    enqueue();
    const auto handler = [this](job&) -> asio::awaitable<void> { co_await gate_.pass(); };
    auto run = start(handler, {.soft_deadline = 0s});
    stop(run);
    EXPECT_EQ(count("pending"), "1");
    EXPECT_EQ(value("SELECT attempts, max_attempts FROM _honker_live"), "1|4");
}

TEST_F(WorkerStop, TellsADeadLetterThatItWasTheReason)
{
    const std::int64_t id = enqueue("7", {.max_attempts = 1});
    auto run = start_waiting(0, {.soft_deadline = 0s});
    stop(run);
    EXPECT_EQ(state_of(id), "dead: the worker was stopped");
}

TEST_F(WorkerStop, ThatIsAskedForTwiceCancelsTheHandlersAtOnce)
{
    auto run = start_waiting(3);
    run.cancel();
    db_.settle();
    EXPECT_FALSE(run.is_done());
    stop(run);
    EXPECT_EQ(count("pending"), "3");
}

TEST_F(WorkerStop, LeavesAHandlerBehindAtItsHardDeadline)
{
    auto run = start_deaf({.soft_deadline = 10s, .hard_deadline = 20s});
    run.cancel();
    db_.advance(10s);
    EXPECT_FALSE(run.is_done());
    EXPECT_EQ(count("processing"), "1");
    db_.advance(10s);
    ASSERT_TRUE(run.is_done());
    EXPECT_NO_THROW(run.result());
    EXPECT_EQ(gate_.waiting(), 1);
    EXPECT_EQ(count("pending"), "1");

    gate_.open();
    db_.settle();
    EXPECT_EQ(deaf_ends_, 1);
    EXPECT_EQ(left(), "2") << "its end is without effect on the job";
    EXPECT_EQ(value("SELECT attempts FROM _honker_live WHERE id = 1"), "1");
}

TEST_F(WorkerStop, ExtendsNoLeaseOfWhatIsLeftBehind)
{
    auto run = start_deaf({.visibility = 3s, .soft_deadline = 0s, .hard_deadline = 0s});
    stop(run);
    job mine = claim({.visibility = 3s});
    for (int i = 0; i < 10; ++i) {
        db_.advance(1s);
    }
    EXPECT_EQ(value("SELECT claim_expires_at FROM _honker_live"), "103");
    EXPECT_TRUE(db_.run(mine.ack()));
}

TEST_F(WorkerStop, LetsAHandlerThatReturnsInSpiteOfItBeDone)
{
    enqueue();
    const auto handler = [this](job&) -> asio::awaitable<void> {
        asio::error_code ignored;
        asio::steady_timer never(db_.context(), asio::steady_timer::time_point::max());
        co_await never.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    };
    auto run = start(handler, {.soft_deadline = 0s});
    stop(run);
    EXPECT_EQ(left(), "0");
}

TEST_F(WorkerStop, LetsAHandlerEnqueueAndAckUntilItReturns)
{
    enqueue("7");
    const auto handler = [this](job& held) -> asio::awaitable<void> {
        co_await gate_.pass();
        co_await queue_.enqueue("8");
        EXPECT_TRUE(co_await held.ack());
    };
    auto run = start(handler);
    run.cancel();
    db_.settle();
    gate_.open();
    db_.settle();
    ASSERT_TRUE(run.is_done());
    EXPECT_EQ(value("SELECT payload FROM _honker_live"), "8");
}

TEST_F(WorkerStop, GivesBackWhatIsClaimedInThatMoment)
{
    // Cancelled after each number of steps, one of which is the claim.
    for (int steps = 0; steps < 40; ++steps) {
        const std::int64_t id = enqueue();
        int calls = 0;
        const auto handler = [&](job&) -> asio::awaitable<void> {
            ++calls;
            co_return;
        };
        auto run = db_.start(skein::run(queue_, handler));
        db_.context().restart();
        for (int step = 0; step < steps; ++step) {
            db_.context().poll_one();
        }
        run.cancel();
        db_.settle();
        ASSERT_TRUE(run.is_done());
        ASSERT_EQ(state_of(id), calls == 1 ? "gone" : "pending") << steps;
        if (calls == 0) {
            ASSERT_TRUE(db_.run(queue_.cancel(id)));
        }
    }
}

TEST_F(WorkerStop, AtRandomMomentsLeavesNothingLeasedToNobody)
{
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    std::map<std::int64_t, int> ends;
    const auto handler = [&](job& held, std::string_view steps) -> asio::awaitable<void> {
        for (int step = 0; step < std::stoi(std::string(steps)); ++step) {
            co_await db_.database().notify("c", "1");
        }
        ++ends[held.id()];
    };
    for (int round = 0; round < 1000; ++round) {
        for (int i = 0; i < 3; ++i) {
            enqueue(std::to_string(chance() % 4));
        }
        const bool is_rude = chance() % 4 == 0; // then cancelled handlers have not ended
        auto run = db_.start(
            skein::run(queue_, handler,
                       {.concurrency = 1 + chance() % 4, .soft_deadline = is_rude ? 0s : 20s}));
        db_.context().restart();
        for (auto steps = chance() % 150; steps > 0; --steps) {
            db_.context().poll_one();
        }
        run.cancel();
        db_.settle();
        ASSERT_TRUE(run.is_done()) << round;
        ASSERT_EQ(count("processing"), "0") << round;
        ASSERT_EQ(count("scheduled"), "0") << round;
    }
    auto last = start(handler);
    EXPECT_EQ(left(), "0");
    stop(last);
    const int dead = std::stoi(value("SELECT count(*) FROM _honker_dead"));
    EXPECT_EQ(ends.size(), 3000U - static_cast<unsigned>(dead));
    for (const auto& [id, times] : ends) {
        EXPECT_EQ(times, 1) << id;
    }
    EXPECT_LT(dead, 50) << "only those that were cancelled three times";
}

TEST_F(WorkerStop, OfTheContextGivesBackTheJobs)
{
    enqueue();
    enqueue();
    const auto handler = [](job&) -> asio::awaitable<void> {
        asio::steady_timer never(co_await asio::this_coro::executor,
                                 asio::steady_timer::time_point::max());
        co_await never.async_wait(asio::use_awaitable);
    };
    {
        asio::io_context elsewhere;
        const operation<void> run(elsewhere, skein::run(queue_, handler, {.visibility = 3s}));
        for (int i = 0; i < 10; ++i) {
            elsewhere.restart();
            elsewhere.poll();
            db_.settle();
        }
        EXPECT_EQ(count("processing"), "2");
    }
    db_.settle();
    EXPECT_EQ(count("pending"), "2");
    for (int i = 0; i < 5; ++i) {
        db_.advance(1s);
    }
    EXPECT_EQ(count("pending"), "2");
}

} // namespace
