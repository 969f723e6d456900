#include "queue/queue_fixture.hpp"
#include "support/statement_counter.hpp"

#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class QueueFinish : public support::queue_fixture {
protected:
    std::string last_error() { return value("SELECT last_error FROM _honker_dead"); }

    std::vector<job> claim_many(int count, const enqueue_options& options = {})
    {
        const std::vector<new_job> jobs(static_cast<std::size_t>(count), {"null", options});
        db_.run(queue_.enqueue_many(jobs));
        return db_.run(queue_.claim_many(static_cast<std::size_t>(count)));
    }
};

TEST_F(QueueFinish, AckRemovesTheJob)
{
    const std::int64_t id = enqueue();
    job claimed = claim();
    EXPECT_TRUE(db_.run(claimed.ack()));
    EXPECT_EQ(state_of(id), "gone");
    EXPECT_FALSE(db_.run(claimed.ack())) << "it was done before";
}

TEST_F(QueueFinish, RetryGivesTheJobBack)
{
    const std::int64_t id = enqueue();
    job claimed = claim();
    EXPECT_EQ(db_.run(claimed.retry()), retry_outcome::waiting);
    EXPECT_EQ(state_of(id), "pending");
    EXPECT_EQ(db_.run(claimed.retry()), retry_outcome::stale);
    EXPECT_EQ(claim().attempt(), 2);
}

TEST_F(QueueFinish, RetryWithADelayPutsTheJobOff)
{
    const std::int64_t id = enqueue();
    job claimed = claim();
    EXPECT_EQ(db_.run(claimed.retry(30s, "not yet")), retry_outcome::waiting);
    EXPECT_EQ(state_of(id), "scheduled");
    auto waiting = db_.start(queue_.claim());
    db_.settle();
    db_.advance(29s);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(QueueFinish, RetryOfTheLastAttemptMakesADeadLetter)
{
    const std::int64_t id = enqueue("null", {.max_attempts = 1});
    job claimed = claim();
    EXPECT_EQ(db_.run(claimed.retry(5s, "no route")), retry_outcome::dead);
    EXPECT_EQ(state_of(id), "dead: no route");
}

TEST_F(QueueFinish, RetryWithoutAReasonSaysThatTheAttemptsAreUsedUp)
{
    const std::int64_t id = enqueue("null", {.max_attempts = 1});
    job claimed = claim();
    EXPECT_EQ(db_.run(claimed.retry()), retry_outcome::dead);
    EXPECT_EQ(state_of(id), "dead: max attempts exceeded");
}

TEST_F(QueueFinish, FailMakesADeadLetterAtOnce)
{
    const std::int64_t id = enqueue();
    job claimed = claim();
    EXPECT_TRUE(db_.run(claimed.fail("bad address")));
    EXPECT_EQ(state_of(id), "dead: bad address");
    EXPECT_FALSE(db_.run(claimed.fail("again")));
    EXPECT_EQ(last_error(), "bad address");
}

TEST_F(QueueFinish, KeepsTheFirstPartOfALongReason)
{
    enqueue();
    job claimed = claim();
    EXPECT_TRUE(db_.run(claimed.fail(std::string(1'000'000, 'x'))));
    EXPECT_EQ(last_error(), std::string(4096, 'x'));
}

TEST_F(QueueFinish, MakesAReasonValidText)
{
    enqueue();
    job claimed = claim();
    EXPECT_TRUE(db_.run(claimed.fail("caf\xe9")));
    EXPECT_EQ(last_error(), "caf\xef\xbf\xbd");
}

TEST_F(QueueFinish, ExtendMovesTheEndOfTheLease)
{
    enqueue();
    job claimed = claim({.visibility = 10s});
    db_.advance(5s);
    EXPECT_TRUE(db_.run(claimed.extend(10s)));
    EXPECT_EQ(claimed.expires_at(), db_.clock().wall_now() + 10s);
    EXPECT_EQ(value("SELECT claim_expires_at || ' ' || claimed_at FROM _honker_live"), "115 100");
    EXPECT_TRUE(db_.run(claimed.extend(0s)));
    db_.advance(1s);
    EXPECT_TRUE(db_.run(claimed.extend(10s))) << "lapsed, and still ours";
    EXPECT_FALSE(db_.run(queue_.try_claim()));
}

TEST_F(QueueFinish, ReleaseMakesTheAttemptGood)
{
    const std::int64_t id = enqueue("null", {.max_attempts = 1});
    job claimed = claim();
    EXPECT_TRUE(db_.run(claimed.release()));
    EXPECT_EQ(state_of(id), "pending");
    EXPECT_EQ(value("SELECT attempts || ' of ' || max_attempts FROM _honker_live"), "1 of 2");
    EXPECT_FALSE(db_.run(claimed.release()));
    EXPECT_EQ(claim().attempt(), 2);
}

TEST_F(QueueFinish, SnoozePutsTheJobOffUncounted)
{
    const std::int64_t id = enqueue("null", {.max_attempts = 1});
    job claimed = claim();
    EXPECT_TRUE(db_.run(claimed.snooze(1h)));
    EXPECT_EQ(state_of(id), "scheduled");
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    db_.advance(1h);
    EXPECT_EQ(claim().max_attempts(), 2);
}

TEST_F(QueueFinish, OfALapsedLeaseWorksUntilSomebodyElseHasTheJob)
{
    const std::int64_t id = enqueue();
    job first = claim({.visibility = 1s});
    db_.advance(1h);
    job second = claim();
    EXPECT_FALSE(db_.run(first.ack()));
    EXPECT_EQ(db_.run(first.retry()), retry_outcome::stale);
    EXPECT_FALSE(db_.run(first.fail("x")));
    EXPECT_FALSE(db_.run(first.extend(1s)));
    EXPECT_FALSE(db_.run(first.release()));
    EXPECT_FALSE(db_.run(first.snooze(1s)));
    EXPECT_EQ(state_of(id), "processing");
    EXPECT_TRUE(db_.run(second.ack()));
}

TEST_F(QueueFinish, OfALeaseThatLapsedAndNobodyTook)
{
    enqueue();
    job claimed = claim({.visibility = 1s});
    db_.advance(1h);
    EXPECT_TRUE(db_.run(claimed.ack()));
}

TEST_F(QueueFinish, ByFenceDoesTheSame)
{
    enqueue("null", {.max_attempts = 1});
    job_fence fence = claim({.worker = "w"}).detach();
    EXPECT_EQ(fence.worker(), "w");
    EXPECT_TRUE(db_.run(queue_.extend(fence, 10s)));
    EXPECT_TRUE(db_.run(queue_.release(fence)));
    EXPECT_FALSE(db_.run(queue_.ack(fence)));
    fence = claim().detach();
    EXPECT_TRUE(db_.run(queue_.snooze(fence, 0s)));
    fence = claim().detach();
    EXPECT_EQ(db_.run(queue_.retry(fence, 0s, "why")), retry_outcome::dead);
    EXPECT_EQ(db_.run(queue_.retry(fence)), retry_outcome::stale);
    const std::int64_t id = enqueue();
    EXPECT_TRUE(db_.run(queue_.fail(claim().detach(), "why")));
    EXPECT_EQ(state_of(id), "dead: why");
    enqueue();
    EXPECT_TRUE(db_.run(queue_.ack(claim().detach())));
    EXPECT_FALSE(db_.run(queue_.ack(job_fence()))) << "nobody's";
}

TEST_F(QueueFinish, ByAFenceThatWasStoredAsPlainValues)
{
    enqueue();
    const job_fence fence = claim().detach();
    const job_fence stored(fence.id(), fence.worker(), fence.attempt());
    EXPECT_FALSE(db_.run(queue_.ack(job_fence(fence.id(), fence.worker(), fence.attempt() + 1))));
    EXPECT_FALSE(db_.run(queue_.ack(job_fence(fence.id(), "another", fence.attempt()))));
    EXPECT_TRUE(db_.run(queue_.ack(stored)));
}

TEST_F(QueueFinish, OfManyAnswersForEach)
{
    std::vector<job> jobs = claim_many(3);
    other_.sql("DELETE FROM _honker_live WHERE id = 2");
    const support::statement_counter counter(db_.handle());
    EXPECT_THAT(db_.run(queue_.ack_many(jobs)), ElementsAre(true, false, true));
    EXPECT_EQ(counter.count("COMMIT"), 1U);
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
}

TEST_F(QueueFinish, OfManyByEachVerb)
{
    std::vector<job> jobs = claim_many(2, {.max_attempts = 2});
    EXPECT_THAT(db_.run(queue_.extend_many(jobs, 1h)), Each(true));
    EXPECT_EQ(jobs[1].expires_at(), db_.clock().wall_now() + 1h);
    EXPECT_THAT(db_.run(queue_.retry_many(jobs)), Each(retry_outcome::waiting));
    jobs = db_.run(queue_.claim_many(2));
    EXPECT_THAT(db_.run(queue_.release_many(jobs)), Each(true));
    jobs = db_.run(queue_.claim_many(2));
    EXPECT_THAT(db_.run(queue_.snooze_many(jobs, 0s)), Each(true));
    jobs = db_.run(queue_.claim_many(1));
    EXPECT_THAT(db_.run(queue_.retry_many(jobs, 0s, "why")), Each(retry_outcome::dead));
    jobs = db_.run(queue_.claim_many(1));
    EXPECT_THAT(db_.run(queue_.fail_many(jobs, "that is why")), Each(true));
    EXPECT_THAT(other_.sql("SELECT last_error FROM _honker_dead ORDER BY id"),
                ElementsAre("why", "that is why"));
}

TEST_F(QueueFinish, OfManyTakesJobsOfOtherQueues)
{
    const auto other = db_.database().queue("other");
    db_.run(other.enqueue("1"));
    enqueue();
    std::vector<job> jobs = db_.run(queue_.claim_many(1));
    jobs.push_back(db_.run(other.claim()));
    EXPECT_THAT(db_.run(queue_.ack_many(jobs)), ElementsAre(true, true));
}

TEST_F(QueueFinish, OfManyRefusesWhatIsNoJobOfThisDatabase)
{
    std::vector<job> jobs(1);
    EXPECT_THROW(static_cast<void>(queue_.ack_many(jobs)), error);
    support::manual_database other;
    const auto strange = other.database().queue("q");
    other.run(strange.enqueue("1"));
    jobs[0] = other.run(strange.claim());
    try {
        static_cast<void>(queue_.fail_many(jobs, "x"));
        ADD_FAILURE();
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
        EXPECT_THAT(refused.what(), HasSubstr("element 0 is of another database"));
    }
}

TEST_F(QueueFinish, InATransactionHappensWithIt)
{
    std::vector<job> jobs = claim_many(6, {.max_attempts = 1});
    const auto finish_all = [&](transaction& tx) {
        EXPECT_TRUE(jobs[0].ack(tx));
        EXPECT_EQ(jobs[1].retry(tx, 1s, "a"), retry_outcome::dead);
        EXPECT_TRUE(jobs[2].fail(tx, "b"));
        EXPECT_TRUE(jobs[3].extend(tx, 1h));
        EXPECT_TRUE(jobs[4].release(tx));
        EXPECT_TRUE(jobs[5].snooze(tx, 1s));
    };
    const auto give_up = [&](transaction& tx) {
        finish_all(tx);
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(give_up)), std::runtime_error);
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live WHERE state = 'processing'"), "6");
    EXPECT_EQ(jobs[3].expires_at(), db_.clock().wall_now() + 5min) << "it was undone";
    db_.run(db_.database().transaction(finish_all));
    EXPECT_EQ(jobs[3].expires_at(), db_.clock().wall_now() + 1h);
    EXPECT_THAT(other_.sql("SELECT id || state FROM _honker_live ORDER BY id"),
                ElementsAre("4processing", "5pending", "6scheduled"));
    EXPECT_THAT(other_.sql("SELECT last_error FROM _honker_dead ORDER BY id"),
                ElementsAre("a", "b"));
}

TEST_F(QueueFinish, ThatFailsInsideATransactionLeavesNoHalfOfItself)
{
    const std::int64_t id = enqueue();
    job claimed = claim();
    other_.sql("CREATE TRIGGER refuse BEFORE DELETE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'no'); END");
    const auto go_on = [&](transaction& tx) {
        EXPECT_ANY_THROW(static_cast<void>(claimed.fail(tx, "x")));
    };
    db_.run(db_.database().transaction(go_on));
    EXPECT_EQ(state_of(id), "processing");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead"), "0");
}

TEST_F(QueueFinish, InATransactionOfAnotherDatabaseIsRefused)
{
    enqueue();
    job claimed = claim();
    support::manual_database other;
    const auto mistaken = [&](transaction& tx) { static_cast<void>(claimed.ack(tx)); };
    EXPECT_THROW(other.run(other.database().transaction(mistaken)), error);
    EXPECT_TRUE(db_.run(claimed.ack()));
}

TEST_F(QueueFinish, ThatIsCancelledHasDoneNothing)
{
    const std::int64_t id = enqueue();
    job claimed = claim();
    const auto cancel = [&](auto finishing) {
        auto cancelled = db_.start(std::move(finishing));
        cancelled.cancel();
        db_.settle();
        EXPECT_EQ(cancelled.error(), asio::error::operation_aborted);
        EXPECT_EQ(state_of(id), "processing");
    };
    cancel(claimed.ack());
    cancel(claimed.retry());
    cancel(claimed.fail("x"));
    cancel(claimed.extend(1h));
    cancel(claimed.release());
    cancel(claimed.snooze(1h));
    EXPECT_EQ(claimed.expires_at(), db_.clock().wall_now() + 5min);
    EXPECT_TRUE(db_.run(claimed.ack()));
}

TEST_F(QueueFinish, OfWhatAnotherProgramCancelledIsStale)
{
    enqueue();
    job claimed = claim();
    other_.sql("DELETE FROM _honker_live");
    EXPECT_FALSE(db_.run(claimed.ack()));
}

TEST_F(QueueFinish, ByAFenceThroughAnotherQueueWakesThoseWhoWaitForTheJobsOwn)
{
    const skein::queue other = db_.database().queue("other");
    enqueue();
    const job_fence released = claim().detach();
    auto first = db_.start(queue_.claim());
    db_.settle();
    EXPECT_TRUE(db_.run(other.release(released)));
    ASSERT_TRUE(first.is_done());
    const job_fence retried = first.result().detach();
    auto second = db_.start(queue_choice{other, queue_}.claim());
    db_.settle();
    EXPECT_EQ(db_.run(other.retry(retried, 10s)), retry_outcome::waiting);
    db_.advance(10s);
    ASSERT_TRUE(second.is_done());
    EXPECT_TRUE(db_.run(other.ack(second.result().detach())));
}

} // namespace
