#include "support/run_coroutine.hpp"
#include "support/temporary_directory.hpp"

#include <skein/database.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;

/// What workers do to a shared stock of groups, and whether two were ever in one.
class floor_plan {
public:
    void enter(const message& claimed)
    {
        if (++inside_.at(index(claimed)) != 1) {
            violated = true;
        }
    }

    void leave(const message& claimed)
    {
        --inside_.at(index(claimed));
        const std::lock_guard lock(mutex_);
        delivered_[index(claimed)].emplace_back(claimed.payload());
        ++count_;
    }

    [[nodiscard]] bool is_empty_after(int messages) const
    {
        const std::lock_guard lock(mutex_);
        return count_ >= messages;
    }

    [[nodiscard]] const std::vector<std::string>& delivered(std::size_t group) const
    {
        return delivered_.at(group);
    }

    std::atomic<bool> violated = false;

private:
    static std::size_t index(const message& claimed)
    {
        return static_cast<std::size_t>(claimed.group().back() - '0');
    }

    mutable std::mutex mutex_;
    std::array<std::atomic<int>, 4> inside_{};
    std::array<std::vector<std::string>, 4> delivered_;
    int count_ = 0;
};

asio::awaitable<void> work(transport from, floor_plan* plan, int messages)
{
    asio::steady_timer pause(co_await asio::this_coro::executor);
    while (!plan->is_empty_after(messages)) {
        auto claimed = co_await from.claim_within(10ms);
        if (!claimed) {
            continue;
        }
        plan->enter(*claimed);
        pause.expires_after(2ms);
        co_await pause.async_wait(asio::use_awaitable);
        plan->leave(*claimed);
        const bool is_ours = co_await claimed->ack();
        EXPECT_TRUE(is_ours);
    }
}

asio::awaitable<void> publish_all(transport to, int messages)
{
    for (int each = 0; each < messages; ++each) {
        const std::string group = "g" + std::to_string(each % 4);
        const std::string payload = std::to_string(each / 4);
        co_await to.publish(group, payload);
    }
}

template <class Function>
void in_threads(int count, Function&& function)
{
    std::vector<std::thread> threads;
    for (int each = 0; each < count; ++each) {
        threads.emplace_back([&function, each] { function(each); });
    }
    for (std::thread& each : threads) {
        each.join();
    }
}

class TransportAcrossThreads : public ::testing::Test {
protected:
    void expect_each_group_in_order(const floor_plan& plan) const
    {
        EXPECT_FALSE(plan.violated) << "two workers were in one group";
        for (std::size_t group = 0; group < 4; ++group) {
            EXPECT_THAT(plan.delivered(group), ::testing::ElementsAre("0", "1", "2", "3", "4"));
        }
    }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    database_options options_{.durability = durability::off};
};

TEST_F(TransportAcrossThreads, ExclusivityUnderThreadsWithADatabaseEach)
{
    constexpr int messages = 20;
    asio::io_context context;
    const database publisher(path_, options_);
    support::run_coroutine(context, publish_all(publisher.transport(), messages));
    floor_plan plan;
    in_threads(4, [&](int) {
        const database own(path_, options_);
        asio::io_context own_context;
        support::run_coroutine(own_context, work(own.transport(), &plan, messages));
    });
    expect_each_group_in_order(plan);
}

TEST_F(TransportAcrossThreads, ExclusivityUnderThreadsWithOneDatabase)
{
    constexpr int messages = 20;
    asio::io_context context;
    const database shared(path_, options_);
    support::run_coroutine(context, publish_all(shared.transport(), messages));
    floor_plan plan;
    in_threads(4, [&](int) {
        asio::io_context own_context;
        support::run_coroutine(own_context, work(shared.transport(), &plan, messages));
    });
    expect_each_group_in_order(plan);
}

asio::awaitable<std::string> claim_group(transport from)
{
    message claimed = co_await from.claim();
    const message_fence fence = claimed.detach();
    co_return fence.group();
}

TEST_F(TransportAcrossThreads, DistinctGroupsConcurrent)
{
    constexpr int count = 20;
    const database shared(path_, options_);
    std::mutex mutex;
    std::set<std::string> groups;
    in_threads(count, [&](int each) {
        asio::io_context context;
        const transport own = shared.transport();
        // Half of them wait before there is anything, as it happens to come.
        support::run_coroutine(context, own.publish("g" + std::to_string(each), "m"));
        const std::string group = support::run_coroutine(context, claim_group(own));
        const std::lock_guard lock(mutex);
        groups.insert(group);
    });
    EXPECT_EQ(groups.size(), static_cast<std::size_t>(count));
}

TEST_F(TransportAcrossThreads, OneWaiterEachIsServedFromAnotherThread)
{
    constexpr int count = 8;
    const database shared(path_, options_);
    std::mutex mutex;
    std::set<std::string> groups;
    std::thread publisher([&] {
        asio::io_context context;
        for (int each = 0; each < count; ++each) {
            support::run_coroutine(context,
                                   shared.transport().publish("g" + std::to_string(each), "m"));
        }
    });
    in_threads(count, [&](int) {
        asio::io_context context;
        const std::string group = support::run_coroutine(context, claim_group(shared.transport()));
        const std::lock_guard lock(mutex);
        groups.insert(group);
    });
    publisher.join();
    EXPECT_EQ(groups.size(), static_cast<std::size_t>(count));
}

} // namespace
