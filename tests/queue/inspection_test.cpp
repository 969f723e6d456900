#include "queue/queue_fixture.hpp"

#include <chrono>
#include <limits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

clock::wall_time at(std::int64_t second)
{
    return clock::wall_time(std::chrono::seconds(second));
}

class QueueInspection : public support::queue_fixture {
protected:
    std::optional<job_info> find(std::int64_t id) { return db_.run(queue_.find(id)); }

    std::vector<job_info> list(job_state state, const job_list_options& options = {})
    {
        return db_.run(queue_.list(state, options));
    }

    queue_counts counts() { return db_.run(queue_.counts()); }
    std::optional<clock::wall_time> next_due() { return db_.run(queue_.next_due()); }

    /// A job that is claimed and kept so.
    std::int64_t lease(std::chrono::seconds visibility)
    {
        const std::int64_t id = enqueue("null", {.priority = 100});
        EXPECT_EQ(claim({.visibility = visibility}).detach().id(), id);
        return id;
    }

    std::int64_t die()
    {
        const std::int64_t id = enqueue("[1]", {.priority = 100});
        EXPECT_TRUE(db_.run(claim().fail("rejected")));
        return id;
    }
};

TEST_F(QueueInspection, FindsAJobThatCanBeClaimed)
{
    const std::int64_t id =
        enqueue(R"({"n":1})", {.priority = 4, .expires_in = 1min, .max_attempts = 7});
    const job_info job = find(id).value();
    EXPECT_EQ(job.id, id);
    EXPECT_EQ(job.queue, "q");
    EXPECT_EQ(job.payload, R"({"n":1})");
    EXPECT_EQ(job.state, job_state::pending);
    EXPECT_EQ(job.priority, 4);
    EXPECT_EQ(job.run_at, at(100));
    EXPECT_EQ(job.worker, std::nullopt);
    EXPECT_EQ(job.leased_until, std::nullopt);
    EXPECT_EQ(job.claimed_at, std::nullopt);
    EXPECT_EQ(job.attempts, 0);
    EXPECT_EQ(job.max_attempts, 7);
    EXPECT_EQ(job.created_at, at(100));
    EXPECT_EQ(job.expires_at, at(160));
    EXPECT_EQ(job.last_error, std::nullopt);
    EXPECT_EQ(job.died_at, std::nullopt);
}

TEST_F(QueueInspection, FindsAJobThatWaitsUntilItIsDue)
{
    const std::int64_t id = enqueue("null", {.delay = 10s});
    const job_info job = find(id).value();
    EXPECT_EQ(job.state, job_state::scheduled);
    EXPECT_EQ(job.run_at, at(110));
    EXPECT_EQ(job.expires_at, std::nullopt);
    db_.advance(20s);
    EXPECT_EQ(find(id)->state, job_state::scheduled) << "until a claim comes";
}

TEST_F(QueueInspection, TellsSinceWhenAJobHasBeenRunningWhileItsLeaseHolds)
{
    const std::int64_t id = enqueue();
    db_.advance(5s);
    const job claimed = claim({.worker = "me", .visibility = 30s});
    db_.advance(30s);
    job_info job = find(id).value();
    EXPECT_EQ(job.state, job_state::processing);
    EXPECT_EQ(job.worker, "me");
    EXPECT_EQ(job.leased_until, at(135)) << "now: it holds at its very end";
    EXPECT_EQ(job.claimed_at, at(105));
    EXPECT_EQ(job.attempts, 1);

    db_.advance(1s);
    job = find(id).value();
    EXPECT_EQ(job.state, job_state::processing);
    EXPECT_EQ(job.worker, "me");
    EXPECT_EQ(job.leased_until, at(135));
    EXPECT_EQ(job.claimed_at, std::nullopt) << "nobody knows whether it is running";
}

TEST_F(QueueInspection, TellsOfNoWorkerOnceTheJobWasGivenBack)
{
    const std::int64_t id = enqueue();
    EXPECT_EQ(db_.run(claim().retry()), retry_outcome::waiting);
    const job_info job = find(id).value();
    EXPECT_EQ(job.state, job_state::pending);
    EXPECT_EQ(job.worker, std::nullopt);
    EXPECT_EQ(job.leased_until, std::nullopt);
    EXPECT_EQ(job.claimed_at, std::nullopt);
    EXPECT_EQ(job.attempts, 1);
}

TEST_F(QueueInspection, TellsNoStartThatTheClaimingProgramHasNotWritten)
{
    const std::int64_t id = lease(30s);
    other_.sql("UPDATE _honker_live SET claimed_at = NULL");
    EXPECT_EQ(find(id)->leased_until, at(130));
    EXPECT_EQ(find(id)->claimed_at, std::nullopt);
    other_.sql("UPDATE _honker_live SET claimed_at = 90, claim_expires_at = NULL");
    EXPECT_EQ(find(id)->leased_until, std::nullopt);
    EXPECT_EQ(find(id)->claimed_at, std::nullopt);
}

TEST_F(QueueInspection, FindsADeadLetter)
{
    const std::int64_t id = die();
    const job_info job = find(id).value();
    EXPECT_EQ(job.id, id);
    EXPECT_EQ(job.queue, "q");
    EXPECT_EQ(job.payload, "[1]");
    EXPECT_EQ(job.state, job_state::dead);
    EXPECT_EQ(job.priority, 100);
    EXPECT_EQ(job.attempts, 1);
    EXPECT_EQ(job.max_attempts, 3);
    EXPECT_EQ(job.created_at, at(100));
    EXPECT_EQ(job.last_error, "rejected");
    EXPECT_EQ(job.died_at, at(100));
    EXPECT_EQ(job.worker, std::nullopt);
    EXPECT_EQ(job.expires_at, std::nullopt);
}

TEST_F(QueueInspection, FindsNothingThatIsGoneOrNeverWas)
{
    const std::int64_t id = enqueue();
    EXPECT_TRUE(db_.run(claim().ack()));
    using limits = std::numeric_limits<std::int64_t>;
    for (const std::int64_t each :
         {id, id + 1, std::int64_t{0}, std::int64_t{-1}, limits::min(), limits::max()}) {
        EXPECT_FALSE(find(each)) << each;
        EXPECT_FALSE(db_.run(db_.database().find_job(each))) << each;
    }
}

TEST_F(QueueInspection, FindsJobsOfEveryNumber)
{
    using limits = std::numeric_limits<std::int64_t>;
    for (const std::int64_t each : {std::int64_t{-5}, limits::min(), limits::max()}) {
        other_.sql("INSERT INTO _honker_live (id, queue, payload) VALUES (" + std::to_string(each) +
                   ", 'q', '1')");
        EXPECT_EQ(find(each)->id, each);
    }
    EXPECT_EQ(list(job_state::pending).size(), 3U);
}

TEST_F(QueueInspection, FindsJobsOfItsOwnQueueOnly)
{
    const skein::queue another = db_.database().queue("another");
    const std::int64_t live = db_.run(another.enqueue("1"));
    EXPECT_FALSE(find(live));
    EXPECT_EQ(db_.run(another.find(live))->id, live);
    EXPECT_EQ(db_.run(db_.database().find_job(live))->queue, "another");

    EXPECT_TRUE(db_.run(db_.run(another.claim()).fail("e")));
    EXPECT_FALSE(find(live));
    EXPECT_EQ(db_.run(another.find(live))->state, job_state::dead);
    EXPECT_EQ(db_.run(db_.database().find_job(live))->state, job_state::dead);
}

TEST_F(QueueInspection, FindsWhatAnotherProgramHasWrittenWhateverItIs)
{
    other_.sql("INSERT INTO _honker_live (id, queue, payload, state, run_at, attempts) VALUES"
               " (1, 'q', x'5b0031', 'pending', 1, 0), (2, 'q', '', 'paused', 1, 99),"
               " (3, 'q', '1', '', -9223372036854775808, 0),"
               " (4, 'q', '1', 'PENDING', 9223372036854775807, 0);"
               "INSERT INTO _honker_dead (id, queue, payload) VALUES (5, 'q', x'00')");
    using namespace std::string_literals;
    EXPECT_EQ(find(1)->payload, "[\0001"s);
    EXPECT_EQ(find(2)->state, job_state::other);
    EXPECT_EQ(find(2)->payload, "");
    EXPECT_EQ(find(2)->attempts, 99);
    EXPECT_EQ(find(3)->state, job_state::other);
    EXPECT_LT(find(3)->run_at, at(0));
    EXPECT_EQ(find(4)->state, job_state::other);
    EXPECT_EQ(find(4)->run_at, clock::wall_time::max());
    EXPECT_EQ(find(5)->payload, "\0"s);
    EXPECT_EQ(find(5)->last_error, std::nullopt);
    EXPECT_EQ(find(5)->max_attempts, 0);
    EXPECT_EQ(counts().pending, 1U) << "states of others are not counted";
    ASSERT_EQ(list(job_state::pending).size(), 1U);
    EXPECT_EQ(list(job_state::pending)[0].id, 1);
}

TEST_F(QueueInspection, CountsNothingInAnEmptyQueue)
{
    db_.run(db_.database().queue("another").enqueue("1"));
    const queue_counts all = counts();
    EXPECT_EQ(all.pending + all.scheduled + all.processing + all.lapsed + all.dead, 0U);
    EXPECT_EQ(all.oldest_ready, std::nullopt);
    EXPECT_EQ(all.next_due, std::nullopt);
}

TEST_F(QueueInspection, CountsJobsByTheirState)
{
    die();
    lease(5s);
    lease(50s);
    enqueue();
    enqueue("null", {.run_at = at(42), .priority = -1});
    enqueue("null", {.delay = 10s});
    enqueue("null", {.delay = 7s, .priority = -1});
    queue_counts all = counts();
    EXPECT_EQ(all.pending, 2U);
    EXPECT_EQ(all.scheduled, 2U);
    EXPECT_EQ(all.processing, 2U);
    EXPECT_EQ(all.lapsed, 0U);
    EXPECT_EQ(all.dead, 1U);
    EXPECT_EQ(all.oldest_ready, at(42));
    EXPECT_EQ(all.next_due, at(107));
    db_.advance(8s);
    all = counts();
    EXPECT_EQ(all.scheduled, 2U) << "no claim has come";
    EXPECT_EQ(all.next_due, at(107));
    EXPECT_EQ(all.processing, 2U);
    EXPECT_EQ(all.lapsed, 1U);
}

TEST_F(QueueInspection, TellsWhenAClaimWillFindSomething)
{
    EXPECT_EQ(next_due(), std::nullopt);
    enqueue("null", {.delay = std::chrono::seconds::max()});
    EXPECT_EQ(next_due(), clock::wall_time::max());
    enqueue("null", {.delay = 20s});
    EXPECT_EQ(next_due(), at(120));
    lease(9s);
    EXPECT_EQ(next_due(), at(110)) << "the first second without the lease";
    db_.advance(9s);
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(next_due(), at(110));
    db_.advance(1s);
    EXPECT_EQ(next_due(), at(110));
    db_.advance(500ms);
    EXPECT_EQ(next_due(), at(110)) << "the second that it is";
    EXPECT_TRUE(db_.run(queue_.try_claim()));
}

TEST_F(QueueInspection, TellsNoMomentForWhatNobodyWillClaim)
{
    enqueue("null", {.expires_in = 5s});
    const std::int64_t last = enqueue("null", {.priority = 1, .max_attempts = 1});
    EXPECT_EQ(claim().detach().id(), last);
    EXPECT_EQ(next_due(), at(100));
    db_.advance(5s);
    EXPECT_EQ(next_due(), std::nullopt);
}

TEST_F(QueueInspection, TellsOfEveryQueueByName)
{
    EXPECT_THAT(db_.run(db_.database().queues()), IsEmpty());
    for (const char* name : {"b", "", "C", "\xc3\xa4", "a"}) {
        db_.run(db_.database().queue(name).enqueue("1"));
    }
    db_.run(db_.database().queue("b").enqueue("1", {.delay = 7s}));
    die();
    lease(1min);
    enqueue("null", {.delay = 9s});
    EXPECT_TRUE(db_.run(db_.run(db_.database().queue("a").claim()).ack()));
    other_.sql("INSERT INTO _honker_live (queue, payload, state) VALUES ('odd', '1', 'paused')");

    const auto queues = db_.run(db_.database().queues());
    std::vector<std::string> names;
    queue_counts sum;
    for (const named_queue_counts& each : queues) {
        names.push_back(each.name);
        sum += each.counts;
    }
    EXPECT_THAT(names, ElementsAre("", "C", "b", "q", "\xc3\xa4"));
    EXPECT_EQ(queues[2].counts.pending, 1U);
    EXPECT_EQ(queues[2].counts.scheduled, 1U);
    EXPECT_EQ(queues[3].counts.pending, 0U);
    EXPECT_EQ(queues[3].counts.processing, 1U);
    EXPECT_EQ(queues[3].counts.dead, 1U);
    EXPECT_EQ(sum.pending, 4U);
    EXPECT_EQ(sum.scheduled, 2U);
    EXPECT_EQ(sum.processing, 1U);
    EXPECT_EQ(sum.lapsed, 0U);
    EXPECT_EQ(sum.dead, 1U);
    EXPECT_EQ(sum.next_due, at(107));
    EXPECT_EQ(sum.oldest_ready, at(100));
    sum += queue_counts{};
    EXPECT_EQ(sum.next_due, at(107));
}

TEST_F(QueueInspection, TellsOfAQueueThatHasDeadLettersOnly)
{
    die();
    const auto queues = db_.run(db_.database().queues());
    ASSERT_EQ(queues.size(), 1U);
    EXPECT_EQ(queues[0].name, "q");
    EXPECT_EQ(queues[0].counts.dead, 1U);
}

TEST_F(QueueInspection, ChangesNothing)
{
    const std::int64_t id = enqueue("null", {.delay = 5s});
    enqueue("null", {.expires_in = 5s});
    lease(1s);
    const std::string before = other_.value("PRAGMA data_version");
    db_.advance(20s);
    EXPECT_TRUE(find(id));
    EXPECT_EQ(counts().pending, 1U);
    EXPECT_TRUE(next_due());
    EXPECT_EQ(list(job_state::scheduled).size(), 1U);
    EXPECT_EQ(db_.run(db_.database().queues()).size(), 1U);
    EXPECT_EQ(other_.value("PRAGMA data_version"), before);
}

TEST_F(QueueInspection, KeepsNoWriterWaitingAndWaitsForNone)
{
    enqueue();
    other_.sql("BEGIN IMMEDIATE; INSERT INTO _honker_live (queue, payload) VALUES ('q', '1')");
    EXPECT_EQ(counts().pending, 1U);
    other_.sql("COMMIT");
    EXPECT_EQ(counts().pending, 2U);
}

TEST_F(QueueInspection, EndsWhenItIsCancelledOrTheDatabaseIsClosed)
{
    auto cancelled = db_.start(queue_.counts());
    cancelled.cancel();
    db_.settle();
    EXPECT_EQ(cancelled.error(), asio::error::operation_aborted);
    db_.run(db_.database().close());
    auto late = db_.start(queue_.find(1));
    db_.settle();
    EXPECT_EQ(late.error(), errc::closed);
}

} // namespace
