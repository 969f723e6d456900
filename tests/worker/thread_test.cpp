#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;

/// Workers whose executor has four threads, and a database with one of its own.
class WorkerThreads : public ::testing::Test {
protected:
    ~WorkerThreads() override { pool_.join(); }

    template <class Result>
    auto await(asio::awaitable<Result> work)
    {
        return asio::co_spawn(pool_, std::move(work), asio::use_future).get();
    }

    std::vector<enqueued_job> enqueue(std::size_t count)
    {
        const std::vector<new_job> jobs(count, new_job{"1"});
        return await(queue_.enqueue_many(jobs));
    }

    [[nodiscard]] int left(const std::string& condition = "1") const
    {
        return std::stoi(other_.value("SELECT count(*) FROM _honker_live WHERE " + condition));
    }

    support::temporary_directory directory_;
    asio::thread_pool pool_{4};
    database db_{directory_ / "test.db", {.durability = durability::off}};
    skein::queue queue_ = db_.queue("q");
    support::plain_connection other_{directory_ / "test.db"};
};

TEST_F(WorkerThreads, CallHandlersAtTheSameTime)
{
    enqueue(2);
    std::latch both(2);
    const auto handler = [&](job&) -> asio::awaitable<void> {
        both.arrive_and_wait(); // it blocks its thread until another one is here
        co_return;
    };
    auto run = asio::co_spawn(pool_, skein::run(queue_, handler), asio::use_future);
    while (left() != 0) {
        std::this_thread::yield();
    }
    await(db_.close());
    EXPECT_THROW(run.get(), error);
}

TEST_F(WorkerThreads, LoseNothingWhileJobsAreCancelled)
{
    constexpr std::size_t jobs = 2000;
    std::atomic<std::size_t> ends = 0;
    const auto handler = [&](job&) -> asio::awaitable<int> {
        co_await db_.notify("c", "1");
        ++ends;
        co_return 7;
    };
    auto run =
        asio::co_spawn(pool_, skein::run(queue_, handler, {.concurrency = 16}), asio::use_future);
    const std::vector<enqueued_job> ids = enqueue(jobs);
    std::size_t cancelled = 0;
    for (std::size_t each = 0; each < jobs; each += 7) {
        cancelled += await(queue_.cancel(ids[each])) ? 1U : 0U;
    }
    while (left() != 0) {
        std::this_thread::yield();
    }
    await(db_.close());
    EXPECT_THROW(run.get(), error);
    const auto results = std::stoul(other_.value("SELECT count(*) FROM _honker_results"));
    EXPECT_EQ(results + cancelled, jobs) << "a job that was cancelled has no result";
    EXPECT_GE(ends, results);
}

TEST_F(WorkerThreads, AreStoppedAtAnyMoment)
{
    enqueue(3000);
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    const auto handler = [&](std::string_view) -> asio::awaitable<void> {
        co_await db_.notify("c", "1");
    };
    for (int round = 0; round < 100; ++round) {
        // Whoever emits a signal does so where the coroutine runs.
        const auto strand = asio::make_strand(pool_);
        asio::cancellation_signal stop;
        const duration patience = round % 2 == 0 ? 0s : 20s;
        auto run = asio::co_spawn(
            strand, skein::run(queue_, handler, {.concurrency = 8, .soft_deadline = patience}),
            asio::bind_cancellation_slot(stop.slot(), asio::use_future));
        for (auto moment = chance() % 3000; moment > 0; --moment) {
            std::this_thread::yield();
        }
        asio::post(strand, [&] { stop.emit(asio::cancellation_type::terminal); });
        try {
            run.get();
        } catch (const std::system_error& early) {
            EXPECT_EQ(early.code(), asio::error::operation_aborted) << "it had not begun";
        }
        EXPECT_EQ(left("state != 'pending'"), 0) << round;
    }
}

} // namespace
