#include "store/queue_client.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t now = 1000;

std::vector<std::string> payloads(const std::vector<claimed_job>& claimed)
{
    std::vector<std::string> all;
    for (const claimed_job& each : claimed) {
        all.push_back(each.payload);
    }
    return all;
}

class QueueClaim : public testing::Test {
protected:
    /// Rows as other programs might write them.
    void insert(const std::string& columns, const std::string& values, int count = 1)
    {
        client_.file().sql(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
            std::to_string(count) +
            ") INSERT INTO _honker_live (queue, payload, created_at, run_at" + columns +
            ") SELECT 'q', '0', 0, 0" + values + " FROM n");
    }

    [[nodiscard]] std::string count(const std::string& what) const
    {
        return client_.file().value("SELECT count(*) FROM " + what);
    }

    skein::support::temporary_directory directory_;
    queue_client client_{directory_ / "test.db"};
};

TEST_F(QueueClaim, LeasesTheJobAndCountsTheAttempt)
{
    const std::int64_t id = client_.enqueue("[1]", 900);
    const claimed_job claimed = client_.claim(now, 30, "me").value();
    EXPECT_EQ(claimed.fence.id, id);
    EXPECT_EQ(claimed.fence.worker_id, "me");
    EXPECT_EQ(claimed.fence.attempts, 1);
    EXPECT_EQ(claimed.payload, "[1]");
    EXPECT_EQ(claimed.max_attempts, 3);
    EXPECT_EQ(claimed.claimed_at, now);
    EXPECT_EQ(claimed.claim_expires_at, 1030);
    EXPECT_EQ(client_.live(id, "state, worker_id, claim_expires_at, attempts, claimed_at, run_at,"
                               " created_at"),
              "processing|me|1030|1|1000|900|900");
}

TEST_F(QueueClaim, FindsNothingInAnEmptyQueueAndWritesNothing)
{
    client_.enqueue({.queue = "another", .payload = "1"}, now);
    const skein::support::plain_connection other(directory_ / "test.db");
    const std::string before = other.value("PRAGMA data_version");
    EXPECT_FALSE(client_.has_work(now));
    EXPECT_EQ(client_.claim_payload(now), "none");
    EXPECT_EQ(other.value("PRAGMA data_version"), before);
}

TEST_F(QueueClaim, ComesInTheOrderOfPriorityDueTimeAndNumber)
{
    client_.enqueue({.queue = "q", .payload = "1", .run_at = 500}, now);
    client_.enqueue({.queue = "q", .payload = "2", .run_at = 400}, now);
    client_.enqueue({.queue = "q", .payload = "3", .run_at = 600, .priority = 1}, now);
    client_.enqueue({.queue = "q", .payload = "4", .run_at = 400}, now);
    client_.enqueue({.queue = "q", .payload = "5", .run_at = 300, .priority = -1}, now);
    EXPECT_THAT(payloads(client_.claim_many(3, now)), ElementsAre("3", "2", "4"));
    EXPECT_EQ(client_.claim_payload(now), "1");
    EXPECT_EQ(client_.claim_payload(now), "5");
    EXPECT_EQ(client_.claim_payload(now), "none");
}

TEST_F(QueueClaim, HasLapsedLeasesInTheirOldPlace)
{
    for (const int priority : {1, 3, 2}) {
        client_.enqueue({.queue = "q", .payload = std::to_string(priority), .priority = priority},
                        now);
    }
    EXPECT_EQ(client_.claim_payload(now, 10), "3");
    EXPECT_EQ(client_.claim_payload(now, 10), "2");
    client_.enqueue({.queue = "q", .payload = "4", .priority = 4}, now);
    EXPECT_THAT(payloads(client_.claim_many(3, now + 11)), ElementsAre("4", "3", "2"));
    EXPECT_EQ(client_.claim_payload(now + 11), "1");
}

TEST_F(QueueClaim, OfNoneIsNoneAndOfANegativeNumberIsAll)
{
    for (int each = 0; each < 5; ++each) {
        client_.enqueue("1", now);
    }
    EXPECT_THAT(client_.claim_many(0, now), IsEmpty());
    EXPECT_EQ(client_.claim_many(-1, now).size(), 5U);
}

TEST_F(QueueClaim, HoldsToTheEndOfTheLastSecondOfItsLease)
{
    client_.enqueue("1", now);
    client_.claim(now, 30);
    EXPECT_EQ(client_.claim_payload(now + 30), "none");
    const claimed_job again = client_.claim(now + 31, 30, "another").value();
    EXPECT_EQ(again.fence.attempts, 2);
    EXPECT_EQ(client_.live(again.fence.id, "worker_id, claim_expires_at, claimed_at"),
              "another|1061|1031");
}

TEST_F(QueueClaim, MayHaveALeaseThatHasLapsedAlready)
{
    client_.enqueue("1", now);
    EXPECT_EQ(client_.claim_payload(now, 0), "1");
    EXPECT_EQ(client_.claim_payload(now, -1), "none");
    EXPECT_EQ(client_.claim_payload(now + 1, -1), "1");
    EXPECT_EQ(client_.claim_payload(now + 1), "1");
}

TEST_F(QueueClaim, MayHaveALeaseWithoutEnd)
{
    const std::int64_t id = client_.enqueue("1", now);
    client_.claim(now, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(client_.live(id, "claim_expires_at"), "9223372036854775807");
    EXPECT_EQ(client_.claim_payload(now + 1'000'000), "none");
}

TEST_F(QueueClaim, TakesADelayedJobWhenItIsDue)
{
    client_.enqueue({.queue = "q", .payload = "1", .delay = 10}, now);
    EXPECT_EQ(client_.claim_payload(now + 9), "none");
    EXPECT_FALSE(client_.has_work(now + 9));
    EXPECT_TRUE(client_.has_work(now + 10));
    EXPECT_EQ(client_.claim_payload(now + 10), "1");
}

TEST_F(QueueClaim, DoesNotTakeAPendingJobOfLaterThatAnotherProgramWrote)
{
    client_.file().sql("INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', '1', 1010)");
    EXPECT_EQ(client_.claim_payload(1009), "none");
    EXPECT_EQ(client_.claim_payload(1010), "1");
}

TEST_F(QueueClaim, MakesExpiredJobsDeadLetters)
{
    const std::int64_t pending =
        client_.enqueue({.queue = "q", .payload = "[1]", .priority = 4, .expires_in = 10}, now);
    const std::int64_t scheduled =
        client_.enqueue({.queue = "q", .payload = "[2]", .delay = 100, .expires_in = 10}, now);
    EXPECT_EQ(client_.claim_payload(now + 10), "none");
    const std::string columns = "queue, payload, priority, run_at, attempts, max_attempts,"
                                " last_error, created_at, died_at";
    EXPECT_EQ(client_.dead(pending, columns), "q|[1]|4|1000|0|3|expired|1000|1010");
    EXPECT_EQ(client_.dead(scheduled, columns), "q|[2]|0|1100|0|3|expired|1000|1010");
    EXPECT_EQ(count("_honker_live"), "0");
}

TEST_F(QueueClaim, TakesAJobUpToTheSecondBeforeItExpires)
{
    client_.enqueue({.queue = "q", .payload = "1", .expires_in = 10}, now);
    EXPECT_EQ(client_.claim_payload(now + 9), "1");
}

TEST_F(QueueClaim, LeavesAnExpiredJobToItsWorkerWhileTheLeaseHolds)
{
    const std::int64_t id = client_.enqueue({.queue = "q", .payload = "1", .expires_in = 10}, now);
    client_.claim(now, 30);
    EXPECT_EQ(client_.claim_payload(now + 30), "none");
    EXPECT_EQ(client_.live(id, "state"), "processing");
    EXPECT_EQ(client_.claim_payload(now + 31), "none");
    EXPECT_EQ(client_.dead(id, "last_error, attempts, died_at"), "expired|1|1031");
}

TEST_F(QueueClaim, MakesADeadLetterOfAJobWhoseLastLeaseHasLapsed)
{
    const std::int64_t id = client_.enqueue({.queue = "q", .payload = "1", .max_attempts = 2}, now);
    client_.claim(now, 10);
    EXPECT_EQ(client_.claim(now + 20, 10).value().fence.attempts, 2);
    EXPECT_EQ(client_.claim_payload(now + 40), "none");
    EXPECT_EQ(client_.dead(id, "last_error, attempts, died_at"), "max attempts exceeded|2|1040");
}

TEST_F(QueueClaim, DoesTheHousekeepingOfItsOwnQueueAlone)
{
    const std::int64_t id =
        client_.enqueue({.queue = "another", .payload = "1", .expires_in = 1}, now);
    client_.claim(now + 10);
    EXPECT_EQ(client_.live(id, "state"), "pending");
}

TEST_F(QueueClaim, DoesTheHousekeepingForAThousandJobsOfEachKindAndTheNextDoesTheRest)
{
    insert(", expires_at", ", 500", 1500);
    insert(", state, claim_expires_at, attempts, max_attempts", ", 'processing', 500, 3, 3", 1500);
    insert(", state", ", 'scheduled'", 1500);
    client_.claim_many(0, now);
    EXPECT_EQ(count("_honker_dead WHERE last_error = 'expired'"), "1000");
    EXPECT_EQ(count("_honker_dead WHERE last_error = 'max attempts exceeded'"), "1000");
    EXPECT_EQ(count("_honker_live WHERE state = 'scheduled'"), "500");
    client_.claim_many(0, now);
    EXPECT_EQ(count("_honker_dead"), "3000");
    EXPECT_EQ(count("_honker_live WHERE state = 'scheduled'"), "0");
}

TEST_F(QueueClaim, ClearsAwayLapsedJobsBehindExpiredOnesThatAreInHand)
{
    insert(", state, claim_expires_at, attempts, expires_at", ", 'processing', 9000, 1, 500", 1000);
    insert(", state, claim_expires_at, attempts, expires_at", ", 'processing', 900, 1, 600", 100);
    EXPECT_TRUE(client_.has_work(now));
    EXPECT_THAT(client_.claim_many(1, now), IsEmpty());
    EXPECT_EQ(count("_honker_dead WHERE last_error = 'expired'"), "100");
    EXPECT_FALSE(client_.has_work(now)) << "a waiter would look again and again";
}

TEST_F(QueueClaim, IsNotFinishedWhileMoreMayBeDue)
{
    insert(", state, attempts", ", 'scheduled', 3", 1000);
    client_.enqueue({.queue = "q", .payload = "2", .delay = 10}, now - 20);
    EXPECT_FALSE(client_.claim_some(1, now).is_finished);
    const job_claimer::some_jobs found = client_.claim_some(1, now);
    EXPECT_EQ(payloads(found.jobs), std::vector<std::string>{"2"});
    EXPECT_TRUE(found.is_finished);
}

TEST_F(QueueClaim, FindsWhatIsBehindExpiredJobsThatAreStillThere)
{
    insert(", expires_at, priority", ", 500, 1", 2500);
    client_.enqueue("1", now);
    EXPECT_EQ(client_.claim_payload(now), "1");
    EXPECT_EQ(count("_honker_dead"), "1000");
}

TEST_F(QueueClaim, StepsOverPendingJobsWithoutAttemptsLeft)
{
    insert(", attempts, priority", ", 3, 1");
    client_.enqueue("1", now);
    EXPECT_EQ(client_.claim_payload(now), "1");
    EXPECT_EQ(client_.claim_payload(now), "none");
}

TEST_F(QueueClaim, HasWorkWhereThereIsOnlyHousekeepingToDo)
{
    client_.enqueue({.queue = "q", .payload = "1", .max_attempts = 1}, now);
    EXPECT_TRUE(client_.has_work(now));
    client_.claim(now, 10);
    EXPECT_FALSE(client_.has_work(now + 10));
    EXPECT_TRUE(client_.has_work(now + 11));
    client_.claim(now + 11);
    EXPECT_FALSE(client_.has_work(now + 11));

    client_.enqueue({.queue = "q", .payload = "1", .delay = 100, .expires_in = 5}, now);
    EXPECT_FALSE(client_.has_work(now + 4));
    EXPECT_TRUE(client_.has_work(now + 5));
}

TEST_F(QueueClaim, SweepMakesAllExpiredJobsDeadLettersAtOnce)
{
    insert(", expires_at", ", 500", 1500);
    insert(", expires_at, state", ", 500, 'scheduled'", 500);
    insert(", expires_at, state, claim_expires_at", ", 500, 'processing', 600", 500);
    insert(", expires_at, state, claim_expires_at", ", 500, 'processing', 1000", 2000);
    client_.enqueue("1", now);
    EXPECT_EQ(client_.sweep_expired(now), 2500);
    EXPECT_EQ(count("_honker_dead WHERE last_error = 'expired' AND died_at = 1000"), "2500");
    EXPECT_EQ(count("_honker_live"), "2001");
    EXPECT_EQ(client_.sweep_expired(now), 0);
}

class ClaimForecast : public QueueClaim {};

TEST_F(ClaimForecast, IsNothingWhereThereIsNothingToWaitFor)
{
    EXPECT_EQ(client_.next_claim_at(now), std::nullopt);
    client_.enqueue({.queue = "another", .payload = "1"}, now);
    EXPECT_EQ(client_.next_claim_at(now), std::nullopt);
}

TEST_F(ClaimForecast, IsNowWhereAJobIsReady)
{
    client_.enqueue("1", now - 100);
    EXPECT_EQ(client_.next_claim_at(now), now);
}

TEST_F(ClaimForecast, IsTheEndOfTheFirstDelay)
{
    client_.enqueue({.queue = "q", .payload = "1", .delay = 20}, now);
    client_.enqueue({.queue = "q", .payload = "1", .delay = 10}, now);
    EXPECT_EQ(client_.next_claim_at(now), now + 10);
    EXPECT_EQ(client_.next_claim_at(now + 15), now + 15);
}

TEST_F(ClaimForecast, IsTheSecondAfterTheFirstLease)
{
    client_.enqueue("1", now);
    client_.claim(now, 30);
    EXPECT_EQ(client_.next_claim_at(now), now + 31);
    EXPECT_EQ(client_.next_claim_at(now + 31), now + 31);
    EXPECT_EQ(client_.next_claim_at(now + 99), now + 99);
    client_.enqueue({.queue = "q", .payload = "1", .delay = 10}, now);
    EXPECT_EQ(client_.next_claim_at(now), now + 10);
}

TEST_F(ClaimForecast, DoesNotOverflowAfterALeaseWithoutEnd)
{
    constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
    client_.enqueue("1", now);
    client_.claim(now, end);
    EXPECT_EQ(client_.next_claim_at(now), end);
}

TEST_F(ClaimForecast, PassesOverLastAttemptsAndExpiredJobs)
{
    client_.enqueue({.queue = "q", .payload = "1", .max_attempts = 1}, now);
    client_.claim(now, 10);
    client_.enqueue({.queue = "q", .payload = "1", .delay = 10, .expires_in = 5}, now);
    EXPECT_EQ(client_.next_claim_at(now + 6), std::nullopt);
    client_.enqueue({.queue = "q", .payload = "1", .delay = 50}, now);
    EXPECT_EQ(client_.next_claim_at(now + 6), now + 50);
}

TEST_F(ClaimForecast, KnowsPendingJobsOfLaterThatAnotherProgramWrote)
{
    client_.file().sql("INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', '1', 1010)");
    EXPECT_EQ(client_.next_claim_at(now), 1010);
}

TEST_F(ClaimForecast, RoundsUpTheFractionsThatAnotherProgramWrote)
{
    for (const char* state : {"pending", "scheduled"}) {
        client_.file().sql("DELETE FROM _honker_live");
        client_.file().sql(std::string("INSERT INTO _honker_live (queue, payload, state, run_at)"
                                       " VALUES ('q', '1', '") +
                           state + "', 1000.5)");
        EXPECT_FALSE(client_.has_work(now)) << state;
        EXPECT_EQ(client_.next_claim_at(now), 1001) << state;
        EXPECT_TRUE(client_.has_work(1001)) << state;
    }
    client_.file().sql("UPDATE _honker_live SET state = 'processing', claim_expires_at = 1000.5");
    EXPECT_FALSE(client_.has_work(1000));
    EXPECT_EQ(client_.next_claim_at(1000), 1001);
    EXPECT_TRUE(client_.has_work(1001));
}

TEST_F(ClaimForecast, PassesOverTimesThatAreNoNumbers)
{
    for (const char* time : {"'soon'", "'900 or so'", "x'31'"}) {
        client_.file().sql(std::string("INSERT INTO _honker_live (queue, payload, state, run_at,"
                                       " claim_expires_at) SELECT 'q', '1', value, ") +
                           time + ", " + time +
                           " FROM json_each('[\"pending\", \"scheduled\", \"processing\"]')");
    }
    EXPECT_FALSE(client_.has_work(now));
    EXPECT_EQ(client_.next_claim_at(now), std::nullopt);
}

TEST_F(ClaimForecast, IsNeverTooLateAndTheClaimThenClearsTheWay)
{
    insert(", state, claim_expires_at, attempts", ", 'processing', 1000 + i, 3", 200);
    client_.enqueue("1", now);
    client_.claim(now, 500);
    std::int64_t moment = now;
    for (int claims = 0; claims < 10; ++claims) {
        const auto next = client_.next_claim_at(moment);
        ASSERT_TRUE(next);
        ASSERT_LE(*next, now + 501);
        moment = *next;
        if (client_.claim(moment)) {
            EXPECT_EQ(moment, now + 501);
            return;
        }
    }
    FAIL() << "it stopped at " << moment;
}

} // namespace
