#include "store/queue/queue_inspection.hpp"
#include "store/queue_client.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t now = 1000;

class QueueInspection : public testing::Test {
protected:
    /// The payloads of all jobs in this state, read in pages of so many.
    std::vector<std::string> listed(job_state state, std::int64_t page_size = 2)
    {
        std::vector<std::string> payloads;
        job_position after;
        while (true) {
            const auto page = there_.list("q", state, after, page_size);
            if (page.empty()) {
                return payloads;
            }
            for (const live_job& each : page) {
                payloads.push_back(each.payload);
            }
            after = job_position(page.back());
        }
    }

    skein::support::temporary_directory directory_;
    queue_client client_{directory_ / "test.db"};
    queue_inspection there_{client_.connection()};
};

TEST_F(QueueInspection, FindsALiveJob)
{
    const std::int64_t id = client_.enqueue(
        {.queue = "q", .payload = "[1]", .priority = 4, .max_attempts = 7, .expires_in = 60}, now);
    live_job job = there_.find_live(id).value();
    EXPECT_EQ(job.id, id);
    EXPECT_EQ(job.queue, "q");
    EXPECT_EQ(job.payload, "[1]");
    EXPECT_EQ(job.state, "pending");
    EXPECT_EQ(job.priority, 4);
    EXPECT_EQ(job.run_at, now);
    EXPECT_EQ(job.worker_id, std::nullopt);
    EXPECT_EQ(job.claim_expires_at, std::nullopt);
    EXPECT_EQ(job.claimed_at, std::nullopt);
    EXPECT_EQ(job.attempts, 0);
    EXPECT_EQ(job.max_attempts, 7);
    EXPECT_EQ(job.created_at, now);
    EXPECT_EQ(job.expires_at, now + 60);

    client_.claim(now + 1, 30, "me");
    job = there_.find_live(id).value();
    EXPECT_EQ(job.state, "processing");
    EXPECT_EQ(job.worker_id, "me");
    EXPECT_EQ(job.claim_expires_at, now + 31);
    EXPECT_EQ(job.claimed_at, now + 1);
    EXPECT_EQ(job.attempts, 1);
}

TEST_F(QueueInspection, FindsAJobWhereverItIs)
{
    const std::int64_t id = client_.enqueue("[1]", now);
    EXPECT_EQ(std::get<live_job>(there_.find(id)).payload, "[1]");
    client_.fail(client_.claim(now).value().fence, "rejected", now);
    EXPECT_FALSE(there_.find_live(id));
    EXPECT_EQ(std::get<dead_letter>(there_.find(id)).last_error, "rejected");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(there_.find(id + 1)));
}

TEST_F(QueueInspection, ListsPendingJobsInTheOrderOfTheirClaim)
{
    for (int each = 0; each < 20; ++each) {
        client_.enqueue({.queue = "q",
                         .payload = std::to_string(each),
                         .run_at = 900 + each % 3,
                         .priority = each % 4},
                        now);
    }
    client_.enqueue({.queue = "another", .payload = "1"}, now);
    const auto listed_jobs = listed(job_state::pending);
    EXPECT_EQ(listed(job_state::pending, 1), listed_jobs);
    EXPECT_EQ(listed(job_state::pending, 100), listed_jobs);
    std::vector<std::string> claimed;
    for (const claimed_job& each : client_.claim_many(100, now)) {
        claimed.push_back(each.payload);
    }
    EXPECT_EQ(claimed.size(), 20U);
    EXPECT_EQ(listed_jobs, claimed);
    EXPECT_THAT(listed(job_state::pending), IsEmpty());
}

TEST_F(QueueInspection, ListsScheduledJobsAsTheyWillBeDue)
{
    for (const int delay : {30, 10, 20, 10, 10}) {
        client_.enqueue(
            {.queue = "q", .payload = std::to_string(delay), .delay = delay, .priority = delay},
            now);
    }
    EXPECT_THAT(listed(job_state::scheduled), ElementsAre("10", "10", "10", "20", "30"));
}

TEST_F(QueueInspection, ListsJobsThatAreProcessingAsTheirLeasesEnd)
{
    for (const int visibility : {30, 10, 20, 10, 10}) {
        client_.enqueue(std::to_string(visibility), now);
        client_.claim(now, visibility);
    }
    EXPECT_THAT(listed(job_state::processing), ElementsAre("10", "10", "10", "20", "30"));
}

TEST_F(QueueInspection, ListsNothingOfAnEmptyQueueOrOnAPageOfNone)
{
    for (const job_state each : {job_state::pending, job_state::scheduled, job_state::processing}) {
        EXPECT_THAT(there_.list("q", each, {}, 10), IsEmpty());
    }
    client_.enqueue("1", now);
    EXPECT_THAT(there_.list("q", job_state::pending, {}, 0), IsEmpty());
}

TEST_F(QueueInspection, CountsNothingInAnEmptyQueue)
{
    client_.enqueue({.queue = "another", .payload = "1"}, now);
    const queue_counts counts = there_.counts("q", now);
    EXPECT_EQ(counts.pending + counts.scheduled + counts.processing + counts.lapsed + counts.dead,
              0);
    EXPECT_EQ(counts.oldest_ready, std::nullopt);
    EXPECT_EQ(counts.next_due, std::nullopt);
}

TEST_F(QueueInspection, CountsByStateAndTellsOfTheFirstInEach)
{
    client_.enqueue("1", now - 20);
    client_.claim(now - 20, 10);
    client_.enqueue("1", now - 5);
    client_.claim(now - 5, 10);
    client_.fail(client_.claim(now - 5).value().fence, "e", now - 5);
    client_.enqueue({.queue = "q", .payload = "1", .run_at = now - 3, .priority = -1}, now - 3);
    client_.enqueue({.queue = "q", .payload = "1", .run_at = now - 2}, now - 2);
    client_.enqueue({.queue = "q", .payload = "1", .delay = 20}, now);
    client_.enqueue({.queue = "q", .payload = "1", .delay = 10}, now);
    client_.file().sql("INSERT INTO _honker_live (queue, payload, run_at, priority)"
                       " VALUES ('q', '1', 2000, 9)");
    const queue_counts counts = there_.counts("q", now);
    EXPECT_EQ(counts.pending, 3);
    EXPECT_EQ(counts.scheduled, 2);
    EXPECT_EQ(counts.processing, 1);
    EXPECT_EQ(counts.lapsed, 0);
    EXPECT_EQ(counts.dead, 1);
    EXPECT_EQ(counts.oldest_ready, now - 3);
    EXPECT_EQ(counts.next_due, now + 10);
    EXPECT_EQ(there_.counts("q", now + 6).lapsed, 1);
}

TEST_F(QueueInspection, TellsTheNamesOfAllQueues)
{
    const auto names = [&] {
        std::vector<std::string> all;
        for (auto name = there_.first_name(); name && all.size() < 100;
             name = there_.next_name(*name)) {
            all.push_back(*name);
        }
        return all;
    };
    EXPECT_THAT(names(), IsEmpty());
    using namespace std::string_literals;
    client_.enqueue({.queue = "ready", .payload = "1"}, now);
    client_.enqueue({.queue = "ready", .payload = "1"}, now);
    client_.enqueue({.queue = "a\0b"s, .payload = "1"}, now);
    client_.enqueue({.queue = "", .payload = "1", .delay = 9}, now);
    client_.enqueue({.queue = "later", .payload = "1", .delay = 9}, now);
    client_.enqueue("1", now);
    client_.claim(now);
    client_.file().sql("INSERT INTO _honker_dead (queue, payload) VALUES ('dead', '1');"
                       "INSERT INTO _honker_live (queue, payload, state) VALUES"
                       " ('odd', '1', 'waiting'), (x'71', '1', 'pending'), (5, '1', 'pending')");
    EXPECT_THAT(names(), ElementsAre("", "5", "a\0b"s, "dead", "later", "q", "ready"));
}

} // namespace
