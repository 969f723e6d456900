#include "stress/contexts.hpp"
#include "support/temporary_directory.hpp"

#include <skein/database.hpp>
#include <skein/error.hpp>

#include <asio/experimental/awaitable_operators.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>

namespace {

using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using skein::message;
using skein::stress::contexts;
using skein::stress::quick;
using skein::stress::rethrow;

struct tally {
    std::atomic<int> published = 0;
    std::atomic<int> acknowledged = 0;
    std::atomic<int> claimed = 0;
    int wanted = 0;
};

/// What a worker may do with a message: finish it, give it back, or just drop it.
asio::awaitable<void> handle(message held, std::minstd_rand& random, tally& counts)
{
    ++counts.claimed;
    switch (random() % 4) {
    case 0:
        break;
    case 1: {
        const bool is_ours = co_await held.nack();
        EXPECT_TRUE(is_ours);
        break;
    }
    default: {
        const bool is_ours = co_await held.ack();
        EXPECT_TRUE(is_ours);
        ++counts.acknowledged;
    }
    }
}

/// Claims again and again, against a timer that often wins.
asio::awaitable<void> race(skein::transport queue, unsigned seed, tally& counts)
{
    std::minstd_rand random(seed);
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (counts.acknowledged < counts.wanted) {
        timer.expires_after(std::chrono::microseconds(random() % 3000));
        auto first = co_await (queue.claim() || timer.async_wait(asio::use_awaitable));
        if (first.index() == 0) {
            message held = std::get<0>(std::move(first));
            co_await handle(std::move(held), random, counts);
        }
    }
}

/// The same by the library's own limit.
asio::awaitable<void> limit(skein::transport queue, unsigned seed, tally& counts)
{
    std::minstd_rand random(seed);
    while (counts.acknowledged < counts.wanted) {
        const skein::duration how_long = std::chrono::microseconds(random() % 3000);
        std::optional<message> held = co_await queue.claim_within(how_long);
        if (held) {
            message taken = *std::move(held);
            co_await handle(std::move(taken), random, counts);
        }
    }
}

asio::awaitable<void> publish(skein::transport queue, int number, int count, tally& counts)
{
    for (int each = 0; each < count; ++each) {
        const std::string group = std::to_string(number) + "-" + std::to_string(each % 7);
        co_await queue.publish(group, "m");
        ++counts.published;
    }
}

asio::awaitable<int> count_the_rest(skein::transport queue)
{
    int count = 0;
    for (;;) {
        std::optional<message> held = co_await queue.try_claim();
        if (!held) {
            break;
        }
        const bool is_ours = co_await held->ack();
        count += is_ours ? 1 : 0;
    }
    co_return count;
}

class Conservation : public testing::Test {
protected:
    /// Far longer than the test: a message that is leased to nobody would be missing at the end.
    static skein::transport_options long_leases()
    {
        skein::transport_options options;
        options.visibility = 1h;
        return options;
    }

    void expect_conserved(const skein::transport& queue, const tally& counts)
    {
        asio::io_context context;
        auto rest = asio::co_spawn(context, count_the_rest(queue), asio::use_future);
        context.run();
        EXPECT_EQ(counts.published, counts.acknowledged + rest.get());
        EXPECT_GT(counts.claimed, counts.acknowledged) << "nothing was ever given back";
    }

    skein::support::temporary_directory directory_;
};

TEST_F(Conservation, HoldsWhenClaimsRaceWithTimersOnManyThreads)
{
    const skein::database database(directory_ / "test.db", quick());
    const skein::transport queue = database.transport(long_leases());
    tally counts;
    counts.wanted = 1500;
    contexts threads(3);
    for (int each = 0; each < 3; ++each) {
        for (unsigned seed = 0; seed < 6; ++seed) {
            asio::co_spawn(threads[each], race(queue, seed + 1, counts), rethrow);
            asio::co_spawn(threads[each], limit(queue, seed + 100, counts), rethrow);
        }
        asio::co_spawn(threads[each], publish(queue, each, 550, counts), rethrow);
    }
    threads.run();
    expect_conserved(queue, counts);
}

TEST_F(Conservation, HoldsWhenClaimsRaceWithTimersOnStrandsOfAPool)
{
    asio::thread_pool pool(3);
    const skein::database database(pool.get_executor(), directory_ / "test.db", quick());
    const skein::transport queue = database.transport(long_leases());
    tally counts;
    counts.wanted = 500;
    std::vector<std::future<void>> workers;
    for (unsigned each = 0; each < 12; ++each) {
        workers.push_back(asio::co_spawn(asio::make_strand(pool), race(queue, each + 1, counts),
                                         asio::use_future));
    }
    for (int each = 0; each < 3; ++each) {
        workers.push_back(asio::co_spawn(asio::make_strand(pool), publish(queue, each, 185, counts),
                                         asio::use_future));
    }
    for (std::future<void>& each : workers) {
        EXPECT_NO_THROW(each.get());
    }
    expect_conserved(queue, counts);
}

TEST_F(Conservation, HoldsWhenTwoDatabasesShareAFile)
{
    const skein::database first(directory_ / "test.db", quick());
    const skein::database second(directory_ / "test.db", quick());
    tally counts;
    counts.wanted = 400;
    contexts threads(2);
    for (unsigned seed = 0; seed < 4; ++seed) {
        asio::co_spawn(threads[0], race(first.transport(long_leases()), seed + 1, counts), rethrow);
        asio::co_spawn(threads[1], race(second.transport(long_leases()), seed + 50, counts),
                       rethrow);
    }
    asio::co_spawn(threads[0], publish(first.transport(), 1, 220, counts), rethrow);
    asio::co_spawn(threads[1], publish(second.transport(), 2, 220, counts), rethrow);
    threads.run();
    expect_conserved(first.transport(long_leases()), counts);
}

} // namespace
