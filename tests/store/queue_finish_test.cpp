#include "store/queue/error_text.hpp"
#include "store/queue_client.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace {

using namespace skein::store;

constexpr std::int64_t now = 1000;
constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

const std::string row = "state, run_at, worker_id, claim_expires_at, attempts, max_attempts,"
                        " claimed_at";

class QueueFinish : public testing::Test {
protected:
    /// A job that `w` has claimed, for 30 seconds from now.
    job_fence claimed(std::int64_t max_attempts = 3)
    {
        client_.enqueue({.queue = "q", .payload = "[1]", .max_attempts = max_attempts}, 900);
        return client_.claim(now).value().fence;
    }

    skein::support::temporary_directory directory_;
    queue_client client_{directory_ / "test.db"};
};

TEST_F(QueueFinish, AnAckRemovesTheJob)
{
    const job_fence fence = claimed();
    EXPECT_TRUE(client_.ack(fence, now));
    EXPECT_EQ(client_.live(fence.id, "id") + client_.dead(fence.id, "id"), "");
    EXPECT_FALSE(client_.ack(fence, now));
}

TEST_F(QueueFinish, ARetryGivesTheJobBackAfterItsDelay)
{
    const job_fence fence = claimed();
    EXPECT_EQ(client_.retry(fence, 5, "timeout", now), retry_outcome::waiting);
    EXPECT_EQ(client_.live(fence.id, row), "scheduled|1005|NULL|NULL|1|3|NULL");
    EXPECT_EQ(client_.claim_payload(now + 4), "none");
    EXPECT_EQ(client_.claim(now + 5).value().fence.attempts, 2);
}

TEST_F(QueueFinish, ARetryWithoutDelayGivesItBackAtOnce)
{
    const job_fence first = claimed();
    EXPECT_EQ(client_.retry(first, 0, "", now), retry_outcome::waiting);
    EXPECT_EQ(client_.live(first.id, row), "pending|1000|NULL|NULL|1|3|NULL");
    const job_fence second = client_.claim(now).value().fence;
    EXPECT_EQ(client_.retry(second, -10, "", now), retry_outcome::waiting);
    EXPECT_EQ(client_.live(first.id, row), "pending|990|NULL|NULL|2|3|NULL");
}

TEST_F(QueueFinish, ARetryOfTheLastAttemptMakesADeadLetter)
{
    const job_fence fence = claimed(1);
    EXPECT_EQ(client_.retry(fence, 5, "timeout", now + 1), retry_outcome::dead);
    EXPECT_EQ(client_.live(fence.id, "id"), "");
    EXPECT_EQ(client_.dead(fence.id, "queue, payload, priority, run_at, attempts, max_attempts,"
                                     " last_error, created_at, died_at"),
              "q|[1]|0|900|1|1|timeout|900|1001");
    EXPECT_EQ(client_.retry(fence, 5, "timeout", now + 1), retry_outcome::stale);
}

TEST_F(QueueFinish, AFailureMakesADeadLetterWithAttemptsLeft)
{
    const job_fence fence = claimed();
    EXPECT_TRUE(client_.fail(fence, "rejected", now + 1));
    EXPECT_EQ(client_.live(fence.id, "id"), "");
    EXPECT_EQ(client_.dead(fence.id, "attempts, max_attempts, last_error, died_at"),
              "1|3|rejected|1001");
    EXPECT_FALSE(client_.fail(fence, "rejected", now + 1));
}

TEST_F(QueueFinish, AnErrorTextMayBeAnything)
{
    const job_fence failed = claimed();
    EXPECT_TRUE(client_.fail(failed, std::string(50'000'000, '\xFF'), now));
    EXPECT_EQ(client_.dead(failed.id, "length(CAST(last_error AS BLOB)) <= 4096"), "1");
    const job_fence exhausted = claimed(1);
    EXPECT_EQ(client_.retry(exhausted, 0, "caf\xE9", now), retry_outcome::dead);
    EXPECT_EQ(client_.dead(exhausted.id, "last_error"), kept_error_text("caf\xE9"));
}

TEST_F(QueueFinish, AnExtensionMovesTheEndOfTheLeaseAndNothingElse)
{
    const job_fence fence = claimed();
    EXPECT_TRUE(client_.extend(fence, 100, now + 10));
    EXPECT_EQ(client_.live(fence.id, row), "processing|900|w|1110|1|3|1000");
    EXPECT_TRUE(client_.extend(fence, 5, now + 10));
    EXPECT_EQ(client_.live(fence.id, "claim_expires_at"), "1015");
    EXPECT_TRUE(client_.extend(fence, -5, now + 10));
    EXPECT_EQ(client_.live(fence.id, "claim_expires_at"), "1005");
    EXPECT_TRUE(client_.extend(fence, for_ever, now + 10));
    EXPECT_EQ(client_.live(fence.id, "claim_expires_at"), std::to_string(for_ever));
}

TEST_F(QueueFinish, AReleaseDoesNotCountAndKeepsTheJobsPlace)
{
    const job_fence fence = claimed(1);
    client_.enqueue("[2]", 950);
    EXPECT_TRUE(client_.release(fence, now));
    EXPECT_EQ(client_.live(fence.id, row), "pending|900|NULL|NULL|1|2|NULL");
    const claimed_job again = client_.claim(now).value();
    EXPECT_EQ(again.payload, "[1]");
    EXPECT_EQ(again.fence.attempts, 2);
    EXPECT_FALSE(client_.release(fence, now));
}

TEST_F(QueueFinish, ASnoozeDoesNotCountEither)
{
    job_fence fence = claimed(1);
    for (int each = 0; each < 100; ++each) {
        ASSERT_TRUE(client_.snooze(fence, 5, now + each * 5));
        fence = client_.claim(now + (each + 1) * 5).value().fence;
    }
    EXPECT_EQ(fence.attempts, 101);
    EXPECT_EQ(client_.live(fence.id, "max_attempts"), "101");
    EXPECT_EQ(client_.retry(fence, 0, "timeout", now + 500), retry_outcome::dead);
}

TEST_F(QueueFinish, WhatLeavesTheRangeOfTimeOrOfNumbersStopsAtItsEnd)
{
    const job_fence retried = claimed();
    client_.retry(retried, for_ever, "", now);
    EXPECT_EQ(client_.live(retried.id, "state, run_at"), "scheduled|9223372036854775807");
    const job_fence snoozed = claimed(for_ever);
    EXPECT_TRUE(client_.snooze(snoozed, for_ever, now));
    EXPECT_EQ(client_.live(snoozed.id, "state, run_at, max_attempts, typeof(max_attempts)"),
              "scheduled|9223372036854775807|9223372036854775807|integer");
}

TEST_F(QueueFinish, ACancelRemovesTheJobInWhateverStateItIs)
{
    const job_fence processing = claimed();
    const std::int64_t pending = client_.enqueue("1", now);
    const std::int64_t scheduled = client_.enqueue({.queue = "q", .payload = "1", .delay = 5}, now);
    for (const std::int64_t each : {processing.id, pending, scheduled}) {
        EXPECT_TRUE(client_.cancel(each));
        EXPECT_FALSE(client_.cancel(each));
        EXPECT_EQ(client_.dead(each, "id"), "");
    }
    EXPECT_FALSE(client_.ack(processing, now));
}

TEST_F(QueueFinish, ACancelInAQueueLeavesTheJobsOfOthers)
{
    const std::int64_t id = client_.enqueue("1", now);
    EXPECT_FALSE(client_.cancel("another", id));
    EXPECT_TRUE(client_.cancel("q", id));
}

/// One way to finish a job, and whether it acted.
struct finish {
    std::string name;
    std::function<bool(queue_client&, const job_fence&, std::int64_t)> act;
};

class EveryFinish : public testing::TestWithParam<finish> {
protected:
    bool act(const job_fence& fence, std::int64_t time)
    {
        return GetParam().act(client_, fence, time);
    }

    [[nodiscard]] std::vector<std::string> rows() const
    {
        return client_.file().sql("SELECT id, state, run_at, worker_id, claim_expires_at,"
                                  " attempts, claimed_at FROM _honker_live UNION ALL"
                                  " SELECT id, 'dead', died_at, NULL, NULL, attempts, NULL"
                                  " FROM _honker_dead");
    }

    void expect_stale(const job_fence& fence, std::int64_t time)
    {
        const auto before = rows();
        EXPECT_FALSE(act(fence, time));
        EXPECT_EQ(rows(), before);
    }

    skein::support::temporary_directory directory_;
    queue_client client_{directory_ / "test.db"};
    std::int64_t id_ = client_.enqueue("1", now);
    job_fence fence_ = client_.claim(now).value().fence;
};

TEST_P(EveryFinish, ActsOnceForTheHolder)
{
    EXPECT_TRUE(act(fence_, now));
}

TEST_P(EveryFinish, ActsForAnUnfencedHolderToTheEndOfTheLease)
{
    EXPECT_TRUE(act(unfenced(fence_), now + 30));
}

TEST_P(EveryFinish, RefusesAnUnfencedHolderAfterTheLease)
{
    expect_stale(unfenced(fence_), now + 31);
}

TEST_P(EveryFinish, ActsAfterTheLeaseWhenNobodyHasTakenTheJob)
{
    EXPECT_TRUE(act(fence_, now + 1000));
}

TEST_P(EveryFinish, RefusesTheFenceOfAnEarlierClaimOfTheSameWorker)
{
    client_.claim(now + 31);
    expect_stale(fence_, now + 31);
}

TEST_P(EveryFinish, RefusesAnotherWorker)
{
    expect_stale({id_, "another", 1}, now);
    expect_stale({id_, "another"}, now);
}

TEST_P(EveryFinish, RefusesAJobThatIsNotClaimed)
{
    client_.release(fence_, now);
    expect_stale(fence_, now);
    expect_stale(unfenced(fence_), now);
}

TEST_P(EveryFinish, RefusesAJobThatIsGone)
{
    client_.cancel(id_);
    expect_stale(fence_, now);
    expect_stale(unfenced(fence_), now);
    expect_stale({id_ + 1, "w", 1}, now);
}

INSTANTIATE_TEST_SUITE_P(
    Of, EveryFinish,
    testing::Values(finish{"Ack", [](auto& client, const auto& fence,
                                     auto time) { return client.ack(fence, time); }},
                    finish{"Retry",
                           [](auto& client, const auto& fence, auto time) {
                               return client.retry(fence, 5, "", time) != retry_outcome::stale;
                           }},
                    finish{"LastRetry",
                           [](auto& client, const auto& fence, auto time) {
                               client.file().sql("UPDATE _honker_live SET max_attempts = 1");
                               return client.retry(fence, 5, "", time) == retry_outcome::dead;
                           }},
                    finish{"Fail", [](auto& client, const auto& fence,
                                      auto time) { return client.fail(fence, "e", time); }},
                    finish{"Extend", [](auto& client, const auto& fence,
                                        auto time) { return client.extend(fence, 60, time); }},
                    finish{"Release", [](auto& client, const auto& fence,
                                         auto time) { return client.release(fence, time); }},
                    finish{"Snooze", [](auto& client, const auto& fence,
                                        auto time) { return client.snooze(fence, 5, time); }}),
    [](const auto& what) { return what.param.name; });

} // namespace
