#include "queue/queue_fixture.hpp"
#include "support/statement_counter.hpp"

#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;

std::vector<std::string> payloads_of(const std::vector<job>& jobs)
{
    std::vector<std::string> payloads;
    for (const job& each : jobs) {
        payloads.emplace_back(each.payload());
    }
    return payloads;
}

class QueueClaim : public support::queue_fixture {
protected:
    /// Somebody who waits for a job.
    support::operation<job> start_claim(const job_claim_options& options = {})
    {
        return db_.start(queue_.claim(options));
    }
};

TEST_F(QueueClaim, TellsWhatTheJobIs)
{
    const std::int64_t id = enqueue(R"({"to":"ann"})");
    const job claimed = claim();
    EXPECT_TRUE(claimed);
    EXPECT_EQ(claimed.id(), id);
    EXPECT_EQ(claimed.queue(), "q");
    EXPECT_EQ(claimed.payload(), R"({"to":"ann"})");
    EXPECT_EQ(claimed.attempt(), 1);
    EXPECT_EQ(claimed.max_attempts(), 3);
    EXPECT_EQ(claimed.claimed_at(), db_.clock().wall_now());
    EXPECT_EQ(claimed.expires_at(), db_.clock().wall_now() + 5min);
    EXPECT_FALSE(job());
}

TEST_F(QueueClaim, WritesWhoHasTheJobAndUntilWhen)
{
    enqueue();
    const job claimed = claim({.worker = "w1", .visibility = 7s});
    EXPECT_EQ(value("SELECT state || worker_id || ' ' || claim_expires_at || ' ' || claimed_at"
                    " || ' ' || attempts FROM _honker_live"),
              "processingw1 107 100 1");
    EXPECT_EQ(claimed.expires_at(), db_.clock().wall_now() + 7s);
}

TEST_F(QueueClaim, NamesTheDatabaseWhereNoWorkerIsNamed)
{
    enqueue();
    const job claimed = claim();
    EXPECT_THAT(value("SELECT worker_id FROM _honker_live"), ::testing::StartsWith("skein-"));
}

TEST_F(QueueClaim, TakesTheHighestPriorityThenWhoWasDueFirstThenWhoCameFirst)
{
    enqueue("1", {.priority = -1});
    enqueue("2");
    enqueue("3", {.run_at = clock::wall_time(90s)});
    enqueue("4", {.priority = 1});
    enqueue("5", {.priority = 1});
    EXPECT_EQ(db_.run(queue_.claim_many(5)).size(), 5U) << "given back, they are where they were";
    for (const char* payload : {"4", "5", "3", "2", "1"}) {
        job next = claim();
        EXPECT_EQ(next.payload(), payload);
        EXPECT_TRUE(db_.run(next.ack()));
    }
}

TEST_F(QueueClaim, TakesSeveralInTheOrderOfTheirClaim)
{
    enqueue("1");
    enqueue("2", {.priority = 2});
    enqueue("3", {.priority = 1});
    const std::vector<job> claimed = db_.run(queue_.claim_many(10));
    EXPECT_THAT(payloads_of(claimed), ElementsAre("2", "3", "1"));
    EXPECT_THAT(payloads_of(db_.run(queue_.try_claim_many(10))), ElementsAre());
}

TEST_F(QueueClaim, FindsNothingInAnotherQueue)
{
    enqueue();
    const auto other = db_.database().queue("Q");
    EXPECT_FALSE(db_.run(other.try_claim()));
    EXPECT_THAT(db_.run(other.try_claim_many(3)), ::testing::IsEmpty());
}

TEST_F(QueueClaim, WaitsForAJob)
{
    auto waiting = start_claim();
    db_.settle();
    EXPECT_FALSE(waiting.is_done());
    enqueue("7");
    EXPECT_EQ(waiting.result().payload(), "7");
}

TEST_F(QueueClaim, ServesWaitersInTheOrderTheyCame)
{
    auto first = start_claim();
    auto second = start_claim({.worker = "another", .visibility = 1s});
    auto third = start_claim();
    db_.settle();
    enqueue("1");
    EXPECT_TRUE(first.is_done());
    EXPECT_FALSE(second.is_done());
    enqueue("2");
    EXPECT_TRUE(second.is_done());
    EXPECT_FALSE(third.is_done());
    enqueue("3");
    const std::vector<job> held = [&] {
        std::vector<job> all;
        all.push_back(first.result());
        all.push_back(second.result());
        all.push_back(third.result());
        return all;
    }();
    EXPECT_THAT(payloads_of(held), ElementsAre("1", "2", "3"));
}

TEST_F(QueueClaim, ServesUnlikeWaitersInOneCommit)
{
    std::vector<support::operation<job>> waiting;
    for (const auto length : {1s, 1s, 2s, 1s}) {
        waiting.push_back(start_claim({.visibility = length}));
    }
    db_.settle();
    const std::vector<new_job> jobs{{"1"}, {"2"}, {"3"}, {"4"}};
    EXPECT_EQ(db_.run(queue_.enqueue_many(jobs)).size(), 4U);
    for (std::size_t each = 0; each != waiting.size(); ++each) {
        ASSERT_TRUE(waiting[each].is_done());
        const job claimed = waiting[each].result();
        EXPECT_EQ(claimed.payload(), std::to_string(each + 1));
        EXPECT_EQ(claimed.expires_at(), db_.clock().wall_now() + (each == 2 ? 2s : 1s));
    }
}

TEST_F(QueueClaim, ServesALineWithOneStatement)
{
    std::vector<support::operation<job>> waiting;
    for (int each = 0; each < 50; ++each) {
        waiting.push_back(start_claim());
    }
    db_.settle();
    const std::vector<new_job> jobs(50, new_job{"null"});
    const support::statement_counter counter(db_.handle());
    EXPECT_EQ(db_.run(queue_.enqueue_many(jobs)).size(), 50U);
    EXPECT_EQ(counter.count("SET state = 'processing'"), 1U);
    EXPECT_EQ(counter.count("COMMIT"), 1U);
    for (auto& each : waiting) {
        EXPECT_TRUE(each.is_done());
    }
}

TEST_F(QueueClaim, SharesWhatThereIsAmongThoseWhoWantMany)
{
    auto first = db_.start(queue_.claim_many(3));
    auto second = db_.start(queue_.claim_many(3));
    db_.settle();
    const std::vector<new_job> jobs{{"1"}, {"2"}, {"3"}, {"4"}};
    db_.run(queue_.enqueue_many(jobs));
    EXPECT_THAT(payloads_of(first.result()), ElementsAre("1", "2", "3"));
    EXPECT_THAT(payloads_of(second.result()), ElementsAre("4"));
}

TEST_F(QueueClaim, CostsNoQueryWhileItWaits)
{
    auto waiting = start_claim();
    db_.settle();
    db_.advance(1s);
    const support::statement_counter counter(db_.handle());
    db_.advance(1h);
    EXPECT_EQ(counter.count() - counter.count("data_version"), 0U);
    EXPECT_FALSE(waiting.is_done());
}

TEST_F(QueueClaim, AsksOnceForAThousandEqualWaiters)
{
    const auto asked = [&](const char* change) {
        const support::statement_counter counter(db_.handle());
        other_.sql(change);
        db_.advance(1s);
        return counter.count() - counter.count("data_version");
    };
    std::vector<support::operation<job>> waiting;
    waiting.push_back(start_claim());
    db_.settle();
    const std::size_t for_one = asked("CREATE TABLE unrelated (v)");
    for (int each = 1; each < 1000; ++each) {
        waiting.push_back(start_claim());
    }
    db_.settle();
    EXPECT_EQ(asked("DROP TABLE unrelated"), for_one);
}

TEST_F(QueueClaim, SeesWhatAnotherProgramEnqueues)
{
    auto waiting = start_claim();
    db_.settle();
    other_.sql("INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', '7', 0)");
    db_.advance(1s);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "7");
}

TEST_F(QueueClaim, ReturnsNothingWhenTheLimitHasPassed)
{
    auto waiting = db_.start(queue_.claim_within(10s));
    auto many = db_.start(queue_.claim_many_within(10s, 5));
    db_.settle();
    db_.advance(9s);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1s);
    EXPECT_FALSE(waiting.result());
    EXPECT_THAT(many.result(), ::testing::IsEmpty());
}

TEST_F(QueueClaim, WritesNothingWhenItFindsNothing)
{
    const support::statement_counter counter(db_.handle());
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(counter.count("BEGIN"), 0U);
}

TEST_F(QueueClaim, TakesADelayedJobInTheSecondItIsDue)
{
    const std::int64_t id = enqueue("1", {.delay = 10s});
    EXPECT_EQ(state_of(id), "scheduled");
    auto waiting = start_claim();
    db_.settle();
    db_.advance(9s);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1s);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().id(), id);
}

TEST_F(QueueClaim, HearsOfADelayThatIsShorterThanTheOneItKnows)
{
    auto waiting = start_claim();
    enqueue("1", {.delay = 1h});
    enqueue("2", {.delay = 10s});
    db_.advance(10s);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "2");
}

TEST_F(QueueClaim, TakesAJobAgainInTheSecondAfterItsLease)
{
    enqueue();
    job first = claim({.visibility = 10s});
    auto waiting = start_claim();
    db_.settle();
    db_.advance(10s);
    EXPECT_FALSE(waiting.is_done()) << "a lease holds in its last second";
    db_.advance(1s);
    ASSERT_TRUE(waiting.is_done());
    job second = waiting.result();
    EXPECT_EQ(second.attempt(), 2);
    EXPECT_FALSE(db_.run(first.ack()));
    EXPECT_TRUE(db_.run(second.ack()));
}

TEST_F(QueueClaim, WaitsAnewAfterALeaseWasExtended)
{
    enqueue();
    job held = claim({.visibility = 10s});
    auto waiting = start_claim();
    db_.settle();
    db_.advance(10s);
    EXPECT_TRUE(db_.run(held.extend(10s)));
    db_.advance(10s);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(QueueClaim, CountsAnAttemptThatNobodyFinished)
{
    const std::int64_t id = enqueue("null", {.max_attempts = 2});
    for (int attempt = 1; attempt <= 2; ++attempt) {
        EXPECT_EQ(claim({.visibility = 1s}).detach().attempt(), attempt);
        db_.advance(2s);
    }
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(state_of(id), "dead: max attempts exceeded");
}

TEST_F(QueueClaim, DoesNotTakeWhatHasExpired)
{
    const std::int64_t id = enqueue("null", {.expires_in = 10s});
    db_.advance(10s);
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(state_of(id), "dead: expired");
}

TEST_F(QueueClaim, FindsAJobBehindThousandsThatHaveExpired)
{
    other_.sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)"
               " INSERT INTO _honker_live (queue, payload, run_at, expires_at)"
               " SELECT 'q', 'null', 1, 50 FROM n");
    const std::int64_t id = enqueue("7");
    const support::statement_counter counter(db_.handle());
    EXPECT_EQ(claim().id(), id);
    EXPECT_GE(counter.count("COMMIT"), 3U) << "a few at a time, so that others can write, too";
    EXPECT_GE(std::stoi(value("SELECT count(*) FROM _honker_dead")), 3000);
}

TEST_F(QueueClaim, FindsNothingBehindThousandsThatHaveExpired)
{
    other_.sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)"
               " INSERT INTO _honker_live (queue, payload, run_at, expires_at)"
               " SELECT 'q', 'null', 1, 50 FROM n");
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead"), "5000");
}

TEST_F(QueueClaim, ThatIsCancelledHandsTheJobToTheNext)
{
    auto cancelled = start_claim();
    auto next = start_claim();
    db_.settle();
    auto enqueued = db_.start(queue_.enqueue("1"));
    cancelled.cancel();
    db_.settle();
    EXPECT_EQ(cancelled.error(), asio::error::operation_aborted);
    EXPECT_EQ(next.result().payload(), "1");
}

TEST_F(QueueClaim, EndsWhenTheDatabaseIsClosed)
{
    auto waiting = start_claim();
    db_.settle();
    db_.run(db_.database().close());
    EXPECT_EQ(waiting.error(), errc::closed);
}

TEST_F(QueueClaim, WakesNobodyOfAnotherQueue)
{
    const auto other = db_.database().queue("other");
    auto waiting = db_.start(other.claim());
    db_.settle();
    const support::statement_counter counter(db_.handle());
    enqueue();
    EXPECT_EQ(counter.count("SELECT"), 0U) << ::testing::PrintToString(counter.statements());
    EXPECT_FALSE(waiting.is_done());
}

TEST_F(QueueClaim, FailsWhereATriggerIgnoresIt)
{
    enqueue();
    other_.sql("CREATE TRIGGER refuse BEFORE UPDATE ON _honker_live WHEN new.state = 'processing'"
               " BEGIN SELECT RAISE(IGNORE); END");
    auto waiting = start_claim();
    db_.settle();
    EXPECT_EQ(waiting.error(), errc::storage_failure);
}

} // namespace
