#include "stress/contexts.hpp"
#include "support/temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/experimental/awaitable_operators.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>

namespace {

using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using skein::job;
using skein::stress::contexts;
using skein::stress::quick;
using skein::stress::rethrow;

struct tally {
    std::atomic<int> enqueued = 0;
    std::atomic<int> acknowledged = 0;
    std::atomic<int> claimed = 0;
    int wanted = 0;
};

/// What a worker may do with a job: finish it, give it back in one way or another, or drop it.
asio::awaitable<void> handle(job held, std::minstd_rand& random, tally& counts)
{
    ++counts.claimed;
    bool is_ours = true;
    switch (random() % 9) {
    case 0:
        break;
    case 1:
        EXPECT_EQ(held.payload(), "null");
        break;
    case 2: {
        const skein::retry_outcome outcome = co_await held.retry();
        EXPECT_EQ(outcome, skein::retry_outcome::waiting);
        break;
    }
    case 3:
        is_ours = co_await held.release();
        break;
    case 4:
        is_ours = co_await held.snooze(0s);
        break;
    case 5:
        is_ours = co_await held.extend(1h);
        break;
    default:
        is_ours = co_await held.ack();
        ++counts.acknowledged;
    }
    EXPECT_TRUE(is_ours);
}

/// Claims again and again, against a timer that often wins.
asio::awaitable<void> race(skein::queue_choice queues, unsigned seed, tally& counts)
{
    std::minstd_rand random(seed);
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (counts.acknowledged < counts.wanted) {
        timer.expires_after(std::chrono::microseconds(random() % 3000));
        auto first = co_await (queues.claim() || timer.async_wait(asio::use_awaitable));
        if (first.index() == 0) {
            job held = std::get<0>(std::move(first));
            co_await handle(std::move(held), random, counts);
        }
    }
}

/// Several at once, by the library's own limit.
asio::awaitable<void> limit(skein::queue queue, unsigned seed, tally& counts)
{
    std::minstd_rand random(seed);
    while (counts.acknowledged < counts.wanted) {
        const skein::duration how_long = std::chrono::microseconds(random() % 3000);
        std::vector<job> held = co_await queue.claim_many_within(how_long, 1 + random() % 4);
        for (job& each : held) {
            job taken = std::move(each);
            co_await handle(std::move(taken), random, counts);
        }
    }
}

asio::awaitable<void> enqueue(skein::queue queue, int count, tally& counts)
{
    for (int each = 0; each < count; ++each) {
        const std::int64_t id = co_await queue.enqueue("null", {.priority = each % 3});
        EXPECT_GT(id, 0);
        ++counts.enqueued;
    }
}

asio::awaitable<int> count_the_rest(skein::queue_choice queues)
{
    int count = 0;
    for (;;) {
        std::optional<job> held = co_await queues.try_claim();
        if (!held) {
            break;
        }
        const bool is_ours = co_await held->ack();
        count += is_ours ? 1 : 0;
    }
    co_return count;
}

class JobConservation : public testing::Test {
protected:
    /// Leases that are far longer than the test, so that a job that is leased to nobody would be
    /// missing at the end; and attempts without end.
    static skein::queue open(const skein::database& database, const char* name)
    {
        return database.queue(name, {.visibility = 1h, .max_attempts = 1'000'000});
    }

    static void expect_conserved(const skein::queue_choice& queues, const tally& counts)
    {
        asio::io_context context;
        auto rest = asio::co_spawn(context, count_the_rest(queues), asio::use_future);
        context.run();
        EXPECT_EQ(counts.enqueued, counts.acknowledged + rest.get());
        EXPECT_GT(counts.claimed, counts.acknowledged) << "nothing was ever given back";
    }

    skein::support::temporary_directory directory_;
};

TEST_F(JobConservation, HoldsWhenClaimsRaceWithTimersOnManyThreads)
{
    const skein::database database(directory_ / "test.db", quick());
    const skein::queue first = open(database, "first");
    const skein::queue second = open(database, "second");
    const skein::queue_choice both{first, second};
    tally counts;
    counts.wanted = 1500;
    contexts threads(3);
    for (int each = 0; each < 3; ++each) {
        for (unsigned seed = 0; seed < 6; ++seed) {
            asio::co_spawn(threads[each], race(both, seed + 1, counts), rethrow);
            asio::co_spawn(threads[each], limit(first, seed + 100, counts), rethrow);
        }
        asio::co_spawn(threads[each], enqueue(first, 400, counts), rethrow);
        asio::co_spawn(threads[each], enqueue(second, 150, counts), rethrow);
    }
    threads.run();
    expect_conserved(both, counts);
}

TEST_F(JobConservation, HoldsWhenTwoDatabasesShareAFile)
{
    const skein::database one(directory_ / "test.db", quick());
    const skein::database other(directory_ / "test.db", quick());
    tally counts;
    counts.wanted = 400;
    contexts threads(2);
    for (unsigned seed = 0; seed < 4; ++seed) {
        asio::co_spawn(threads[0], race(skein::queue_choice{open(one, "q")}, seed + 1, counts),
                       rethrow);
        asio::co_spawn(threads[1], limit(open(other, "q"), seed + 50, counts), rethrow);
    }
    asio::co_spawn(threads[0], enqueue(open(one, "q"), 220, counts), rethrow);
    asio::co_spawn(threads[1], enqueue(open(other, "q"), 220, counts), rethrow);
    threads.run();
    expect_conserved(skein::queue_choice{open(one, "q")}, counts);
}

} // namespace
