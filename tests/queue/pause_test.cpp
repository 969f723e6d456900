#include "queue/queue_fixture.hpp"

#include "support/operation.hpp"
#include "support/statement_counter.hpp"

#include <chrono>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;

class Pausing : public support::queue_fixture {
protected:
    void add(int count)
    {
        const std::vector<new_job> jobs(static_cast<std::size_t>(count), {.payload = "null"});
        static_cast<void>(db_.run(queue_.enqueue_many(jobs)));
    }

    std::size_t claimable() { return db_.run(queue_.try_claim_many(1000)).size(); }

    std::string held() { return value("SELECT count(*) FROM _skein_paused_jobs"); }
};

TEST_F(Pausing, APausedQueueGivesNobodyAJob)
{
    add(3);
    EXPECT_FALSE(db_.run(queue_.is_paused()));
    EXPECT_TRUE(db_.run(queue_.pause()));
    add(2);

    EXPECT_TRUE(db_.run(queue_.is_paused()));
    EXPECT_FALSE(db_.run(queue_.try_claim()));

    EXPECT_TRUE(db_.run(queue_.resume()));
    EXPECT_FALSE(db_.run(queue_.is_paused()));
    EXPECT_EQ(claimable(), 5U);
}

TEST_F(Pausing, WhatIsSoAlreadyIsTold)
{
    EXPECT_FALSE(db_.run(queue_.resume()));
    EXPECT_TRUE(db_.run(queue_.pause()));
    EXPECT_FALSE(db_.run(queue_.pause()));
    EXPECT_TRUE(db_.run(queue_.resume()));
    EXPECT_FALSE(db_.run(queue_.resume()));
}

TEST_F(Pausing, OtherQueuesGoOn)
{
    skein::queue other = db_.database().queue("other");
    EXPECT_TRUE(db_.run(queue_.pause()));

    static_cast<void>(db_.run(other.enqueue("1")));
    EXPECT_TRUE(db_.run(other.try_claim()));
}

TEST_F(Pausing, LargeQueuesGoInSlices)
{
    add(1300);
    const auto commits = [&] { return std::stoi(value("PRAGMA data_version")); };
    static_cast<void>(commits());
    EXPECT_TRUE(db_.run(queue_.pause()));
    EXPECT_EQ(held(), "1300");
    EXPECT_TRUE(db_.run(queue_.resume()));
    EXPECT_EQ(held(), "0");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live WHERE state = 'pending'"), "1300");
}

TEST_F(Pausing, APauseThatIsCancelledHoldsAllTheSame)
{
    add(1300);
    auto pausing = db_.start(queue_.pause());
    while (value("SELECT count(*) FROM sqlite_schema WHERE name = '_skein_paused_jobs'") == "0" ||
           held() == "0") {
        db_.context().restart();
        db_.context().run_one();
    }
    pausing.cancel();
    db_.settle();
    EXPECT_LT(std::stoi(held()), 1300);

    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(db_.run(queue_.try_claim_many(1000)).size(), 0U);

    EXPECT_FALSE(db_.run(queue_.pause())); // goes on
    EXPECT_EQ(held(), "1300");
}

TEST_F(Pausing, AWaitingClaimWaitsForTheEndOfThePause)
{
    EXPECT_TRUE(db_.run(queue_.pause()));
    auto waiting = db_.start(queue_.claim());
    add(1);
    db_.advance(1h);
    EXPECT_FALSE(waiting.is_done());

    EXPECT_TRUE(db_.run(queue_.resume()));
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Pausing, AWaitingClaimDoesNotTakeWhatIsStillToBePutAside)
{
    add(700);
    EXPECT_TRUE(db_.run(queue_.pause()));
    // As after a kill: some are not put aside.
    other_.sql("DELETE FROM _skein_paused_queues; DELETE FROM _skein_paused_jobs WHERE id > 9;"
               " INSERT INTO _skein_paused_queues VALUES ('q')");
    const support::statement_counter statements(db_.handle());
    auto waiting = db_.start(queue_.claim());
    db_.settle();
    db_.advance(1s);

    EXPECT_FALSE(waiting.is_done());
    EXPECT_EQ(held(), "700");
    EXPECT_LE(statements.count("COMMIT"), 4U) << "they went one by one";
}

TEST_F(Pausing, AResumeThatWasKilledGoesOnByClaims)
{
    add(700);
    EXPECT_TRUE(db_.run(queue_.pause()));
    other_.sql("DELETE FROM _skein_paused_queues; DELETE FROM _skein_paused_jobs WHERE id = 5");
    EXPECT_EQ(held(), "699");

    std::size_t claimed = 0;
    for (std::size_t last = 1; last != 0;) {
        std::optional<job> next = db_.run(queue_.try_claim());
        last = next ? 1 : 0;
        claimed += last;
        if (next) {
            static_cast<void>(next->detach());
        }
    }
    EXPECT_EQ(claimed, 700U);
}

TEST_F(Pausing, AResumeThatWasKilledGoesOnWhenJobsEnd)
{
    add(10);
    EXPECT_TRUE(db_.run(queue_.pause()));
    other_.sql("DELETE FROM _skein_paused_queues; DELETE FROM _skein_paused_jobs WHERE id = 5");

    EXPECT_TRUE(db_.run(queue_.cancel(5)));
    EXPECT_EQ(held(), "7");
    std::size_t claimed = 0;
    for (std::size_t last = claimable(); last != 0; last = claimable()) {
        claimed += last;
        other_.sql("DELETE FROM _honker_live WHERE attempts > 0");
    }
    EXPECT_EQ(claimed, 9U);
}

TEST_F(Pausing, JobsThatAreClaimedGoOn)
{
    add(2);
    job first = claim({.visibility = 30s});
    job second = claim({.visibility = 30s});
    EXPECT_TRUE(db_.run(queue_.pause()));

    EXPECT_TRUE(db_.run(first.extend(60s)));
    EXPECT_TRUE(db_.run(first.ack()));
    EXPECT_EQ(db_.run(second.retry()), retry_outcome::waiting);
    EXPECT_FALSE(db_.run(queue_.try_claim()));

    EXPECT_TRUE(db_.run(queue_.resume()));
    EXPECT_EQ(claim().attempt(), 2);
}

TEST_F(Pausing, ALapsedLeaseIsNotClaimed)
{
    const std::int64_t id = enqueue("1");
    job first = claim({.visibility = 30s});
    EXPECT_TRUE(db_.run(queue_.pause()));
    auto waiting = db_.start(queue_.claim());
    db_.advance(1h);

    EXPECT_FALSE(waiting.is_done());
    EXPECT_EQ(state_of(id), "scheduled");
    EXPECT_FALSE(db_.run(first.ack()));

    EXPECT_TRUE(db_.run(queue_.resume()));
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().attempt(), 2);
}

TEST_F(Pausing, DelaysGoOnMeanwhile)
{
    enqueue("1", {.delay = 10s});
    enqueue("2", {.delay = 1h});
    EXPECT_TRUE(db_.run(queue_.pause()));
    const std::optional<job_info> info = db_.run(queue_.find(1));
    ASSERT_TRUE(info);
    EXPECT_TRUE(info->is_held);
    EXPECT_EQ(info->run_at, clock::wall_time{110s});
    EXPECT_FALSE(db_.run(queue_.next_due()));
    db_.advance(10s);

    EXPECT_TRUE(db_.run(queue_.resume()));
    const job due = claim({.visibility = 2h});
    EXPECT_EQ(due.payload(), "1");
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(db_.run(queue_.next_due()), clock::wall_time{3700s});
}

TEST_F(Pausing, JobsCanBeCancelledAndExpireMeanwhile)
{
    const std::int64_t cancelled = enqueue("1");
    const std::int64_t expiring = enqueue("2", {.expires_in = 5s});
    EXPECT_TRUE(db_.run(queue_.pause()));

    EXPECT_TRUE(db_.run(queue_.cancel(cancelled)));
    db_.advance(6s);
    EXPECT_EQ(db_.run(queue_.sweep_expired()), 1U);

    EXPECT_EQ(state_of(expiring), "dead: expired");
    EXPECT_EQ(value("SELECT run_at FROM _honker_dead"), "100");
    EXPECT_EQ(held(), "0");
}

TEST_F(Pausing, ProgramsThatKnowTheSharedTablesGetNothingEither)
{
    enqueue("1");
    EXPECT_TRUE(db_.run(queue_.pause()));
    other_.sql("INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', '2', 0)");
    other_.sql("UPDATE _honker_live SET state = 'pending' WHERE state = 'scheduled' AND run_at"
               " <= 5000");
    other_.sql("UPDATE _honker_live SET state = 'processing', worker_id = 'w',"
               " claim_expires_at = 1000, attempts = attempts + 1 WHERE state = 'pending'");

    EXPECT_EQ(value("SELECT count(*) FROM _honker_live WHERE state = 'scheduled'"), "2");
}

TEST_F(Pausing, ALimitPerKeyHoldsThroughAPause)
{
    const enqueue_options limited{.concurrency = {.key = "k", .limit = 1}};
    enqueue("1", limited);
    enqueue("2", limited);
    job first = claim();
    EXPECT_TRUE(db_.run(queue_.pause()));
    enqueue("3", limited);
    EXPECT_TRUE(db_.run(first.ack()));
    EXPECT_FALSE(db_.run(queue_.try_claim()));

    EXPECT_TRUE(db_.run(queue_.resume()));
    job second = claim();
    EXPECT_EQ(second.payload(), "2");
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_TRUE(db_.run(second.ack()));
    EXPECT_EQ(claim().payload(), "3");
}

} // namespace
