#include "runtime/running_queue.hpp"

#include <skein/transaction.hpp>

#include <asio/io_context.hpp>

namespace {

using namespace std::chrono_literals;
using skein::support::operation;
using skein::support::statement_counter;

class GroupCommit : public skein::support::running_queue {
protected:
    std::vector<operation<void>> start_publishers(int count)
    {
        std::vector<operation<void>> started;
        for (int each = 0; each < count; ++each) {
            started.push_back(start_publish("m", std::to_string(each)));
        }
        return started;
    }

    statement_counter statements_{handle_};
};

std::size_t done(const std::vector<operation<void>>& started)
{
    std::size_t count = 0;
    for (const auto& each : started) {
        count += each.is_done() && !each.has_failed() ? 1 : 0;
    }
    return count;
}

asio::awaitable<void> publish_in_turn(skein::transport queue, int count)
{
    for (int each = 0; each < count; ++each) {
        co_await queue.publish("g", "m");
    }
}

asio::awaitable<void> publish_until(skein::transport queue, std::shared_ptr<bool> stop)
{
    while (!*stop) {
        co_await queue.publish("g", "m");
    }
}

TEST_F(GroupCommit, OfACoroutineThatAwaitsEachOperationIsOneCommitPerOperation)
{
    db_.run(publish_in_turn(queue_, 20));
    EXPECT_EQ(statements_.count("COMMIT"), 20u);
    EXPECT_EQ(payloads().size(), 20u);
}

TEST_F(GroupCommit, OfAThousandCoroutinesIsFarFewerCommitsThanOperations)
{
    const auto started = start_publishers(1000);
    db_.settle();
    EXPECT_EQ(done(started), 1000u);
    EXPECT_LE(statements_.count("COMMIT"), 5u);
    EXPECT_EQ(payloads().size(), 1000u);
}

TEST_F(GroupCommit, DoesNotHoldTheWriteLockForAnyNumberOfOperations)
{
    const auto started = start_publishers(5000);
    db_.settle();
    EXPECT_EQ(done(started), 5000u);
    EXPECT_GE(statements_.count("COMMIT"), 5u);
}

TEST_F(GroupCommit, DoesNotHoldTheWriteLockForAnyTime)
{
    const auto slow = start_transaction([this](auto&) { db_.clock().advance(1s); });
    const auto next = start_publish("next");
    db_.settle();
    EXPECT_TRUE(slow.is_done());
    EXPECT_TRUE(next.is_done());
    EXPECT_EQ(statements_.count("COMMIT"), 2u);
}

TEST_F(GroupCommit, GivesOthersOnTheExecutorTheirTurnBetweenBatches)
{
    const auto started = start_publishers(3000);
    std::vector<std::size_t> commits_seen;
    std::function<void()> look = [&] {
        if (commits_seen.empty() || commits_seen.back() != statements_.count("COMMIT")) {
            commits_seen.push_back(statements_.count("COMMIT"));
        }
        if (done(started) < started.size()) {
            asio::post(db_.context(), look);
        }
    };
    look();
    db_.settle();
    EXPECT_GE(commits_seen.size(), 3u);
}

TEST_F(GroupCommit, CompletesAnOperationOnlyWhenOthersCanSeeItsEffect)
{
    const auto started = start_publishers(100);
    db_.context().restart();
    while (done(started) == 0 && db_.context().poll_one() != 0) {
    }
    EXPECT_GT(done(started), 0u);
    EXPECT_EQ(payloads().size(), 100u);
}

TEST_F(GroupCommit, ServesAClaimAmongPublishersThatNeverPause)
{
    const auto stop = std::make_shared<bool>(false);
    std::vector<operation<void>> publishers;
    for (int each = 0; each < 2500; ++each) {
        publishers.push_back(db_.start(publish_until(queue_, stop)));
    }
    auto claim = start_claim();
    int commits = 0;
    statements_.when_finished("COMMIT", [&] { ++commits; });
    db_.context().restart();
    while (!claim.is_done() && commits < 20 && db_.context().poll_one() != 0) {
    }
    EXPECT_TRUE(claim.is_done()) << "after 20 batches";
    *stop = true;
    db_.settle();
    EXPECT_EQ(done(publishers), publishers.size());
}

} // namespace
