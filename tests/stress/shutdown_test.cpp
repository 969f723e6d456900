#include "support/operation.hpp"
#include "support/temporary_directory.hpp"

#include <skein/database.hpp>
#include <skein/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

namespace {

using namespace std::chrono_literals;
using skein::message;

skein::database_options quick()
{
    skein::database_options options;
    options.durability = skein::durability::off;
    return options;
}

/// Each in a group of its own: what a coroutine holds at the end stays leased, and so does its
/// group.
asio::awaitable<void> move_messages(skein::transport queue, std::atomic<int>& finished)
{
    static std::atomic<int> groups = 0;
    const std::string group = std::to_string(++groups);
    for (;;) {
        co_await queue.publish(group, "m");
        message held = co_await queue.claim();
        const bool is_ours = co_await held.ack();
        finished += is_ours ? 1 : 0;
    }
}

/// Every coroutine ends with errc::closed, or not at all when its context ends first.
auto expect_closed(std::atomic<int>& ended)
{
    return [&ended](const std::exception_ptr& failure) {
        EXPECT_EQ(skein::support::code_of(failure), skein::errc::closed);
        ++ended;
    };
}

class Shutdown : public testing::Test {
protected:
    skein::support::temporary_directory directory_;
    std::atomic<int> finished_ = 0;
    std::atomic<int> ended_ = 0;
};

constexpr int rounds = 40;
constexpr int coroutines = 8;

TEST_F(Shutdown, OfADatabaseUnderLoadEndsEveryCoroutine)
{
    for (int round = 0; round < rounds; ++round) {
        asio::thread_pool pool(2);
        {
            const skein::database database(directory_ / "test.db", quick());
            for (int each = 0; each < coroutines; ++each) {
                asio::co_spawn(asio::make_strand(pool),
                               move_messages(database.transport(), finished_),
                               expect_closed(ended_));
            }
            const int enough = finished_ + round;
            while (finished_ < enough) {
                std::this_thread::yield();
            }
        }
        pool.join();
    }
    EXPECT_EQ(ended_, rounds * coroutines);
}

TEST_F(Shutdown, OfADatabaseOnThePoolUnderLoadEndsEveryCoroutine)
{
    for (int round = 0; round < rounds; ++round) {
        asio::thread_pool pool(2);
        {
            const skein::database database(pool.get_executor(), directory_ / "test.db", quick());
            for (int each = 0; each < coroutines; ++each) {
                asio::co_spawn(asio::make_strand(pool),
                               move_messages(database.transport(), finished_),
                               expect_closed(ended_));
            }
            const int enough = finished_ + round;
            while (finished_ < enough) {
                std::this_thread::yield();
            }
        }
        pool.join();
    }
    EXPECT_EQ(ended_, rounds * coroutines);
}

TEST_F(Shutdown, OfAContextUnderLoadLeavesTheDatabaseToTheOthers)
{
    const skein::database database(directory_ / "test.db", quick());
    for (int round = 0; round < rounds; ++round) {
        asio::thread_pool pool(2);
        for (int each = 0; each < coroutines; ++each) {
            asio::co_spawn(asio::make_strand(pool), move_messages(database.transport(), finished_),
                           expect_closed(ended_));
        }
        const int enough = finished_ + round;
        while (finished_ < enough) {
            std::this_thread::yield();
        }
        pool.stop();
    }
    EXPECT_EQ(ended_, 0);
    asio::io_context context;
    auto published =
        asio::co_spawn(context, database.transport().publish("g", "m"), asio::use_future);
    context.run();
    EXPECT_NO_THROW(published.get());
}

asio::awaitable<void> claim_one(skein::transport queue)
{
    const message held = co_await queue.claim();
}

TEST_F(Shutdown, RacesWithCancellation)
{
    for (int round = 0; round < rounds; ++round) {
        asio::io_context context;
        std::vector<std::shared_ptr<skein::support::completion>> waiting;
        std::thread thread;
        {
            const skein::database database(directory_ / "test.db", quick());
            for (int each = 0; each < 20; ++each) {
                waiting.push_back(std::make_shared<skein::support::completion>());
                skein::support::spawn(context, claim_one(database.transport()), waiting.back());
            }
            asio::post(context, [&] {
                for (const auto& each : waiting) {
                    asio::post(context,
                               [each] { each->cancellation.emit(asio::cancellation_type::total); });
                }
            });
            thread = std::thread([&] { context.run(); });
        }
        thread.join();
        for (const auto& each : waiting) {
            EXPECT_TRUE(each->is_done);
            EXPECT_TRUE(each->failure);
        }
    }
}

} // namespace
