#include "observer/observer_fixture.hpp"

#include <array>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ObservedJobs : public support::observer_fixture {};

TEST_F(ObservedJobs, AreToldWhenTheyAreEnqueued)
{
    enqueue();
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#1 by program"));
    const std::array<new_job, 2> both{new_job{"1"}, new_job{"2"}};
    db_.run(queue_.enqueue_many(both));
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#2 by program", "enqueued q#3 by program"));
    transact([&](transaction& tx) { queue_.enqueue_many(tx, both); });
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#4 by program", "enqueued q#5 by program"));
}

TEST_F(ObservedJobs, AreToldWhenTheyAreClaimedWithHowLongTheyHaveWaited)
{
    enqueue("null", {.delay = 5s, .max_attempts = 7});
    db_.advance(12s);
    static_cast<void>(take());
    const job claimed = claim({.worker = "w"});
    EXPECT_THAT(take_deeds(), ElementsAre("claimed q#1 attempt 1/7 by w after 7 s"));
}

TEST_F(ObservedJobs, AreToldOneByOneWhenManyAreClaimed)
{
    enqueue();
    enqueue();
    static_cast<void>(take());
    const std::vector<job> both = db_.run(queue_.try_claim_many(5, {.worker = "w"}));
    EXPECT_THAT(take_deeds(), ElementsAre("claimed q#1 attempt 1/3 by w after 0 s",
                                          "claimed q#2 attempt 1/3 by w after 0 s"));
}

TEST_F(ObservedJobs, AreToldWhenTheyAreDoneWithHowLongThatTook)
{
    job first = claim_new();
    db_.advance(1500ms);
    EXPECT_TRUE(db_.run(first.ack()));
    EXPECT_THAT(take_deeds(), ElementsAre("acked q#1 attempt 1 held 1500 ms"));
    job second = claim_new();
    db_.advance(2s);
    transact([&](transaction& tx) { EXPECT_TRUE(second.ack(tx)); });
    EXPECT_THAT(take_deeds(), ElementsAre("acked q#2 attempt 1 held 2000 ms"));
}

TEST_F(ObservedJobs, AreToldOneByOneWhenManyAreDone)
{
    std::vector<job> jobs;
    jobs.push_back(claim_new());
    jobs.push_back(claim_new());
    db_.advance(1s);
    EXPECT_THAT(db_.run(queue_.ack_many(jobs)), ElementsAre(true, true));
    EXPECT_THAT(take_deeds(), ElementsAre("acked q#1 attempt 1 held 1000 ms",
                                          "acked q#2 attempt 1 held 1000 ms"));
}

TEST_F(ObservedJobs, AreToldWithoutTheTimeWhenTheyAreDoneByTheirFence)
{
    job claimed = claim_new();
    const job_fence fence = claimed.detach();
    EXPECT_TRUE(db_.run(queue_.ack(fence)));
    EXPECT_THAT(take_deeds(), ElementsAre("acked q#1 attempt 1"));
}

TEST_F(ObservedJobs, AreToldWhenTheyAreRetried)
{
    job claimed = claim_new({.max_attempts = 2});
    EXPECT_EQ(db_.run(claimed.retry(3s, "no answer")), retry_outcome::waiting);
    EXPECT_THAT(take_deeds(), ElementsAre("retried q#1 attempt 1 held 0 ms in 3 s: no answer"));
    db_.advance(4s);
    job last = claim({.worker = "w"});
    EXPECT_THAT(take_deeds(), ElementsAre("claimed q#1 attempt 2/2 by w after 1 s"));
    EXPECT_EQ(db_.run(last.retry()), retry_outcome::dead);
    EXPECT_THAT(take_deeds(),
                ElementsAre("died q#1 attempt 2 held 0 ms exhausted: max attempts exceeded"));
}

TEST_F(ObservedJobs, AreToldWhenTheyFail)
{
    job claimed = claim_new();
    EXPECT_TRUE(db_.run(claimed.fail("broken")));
    EXPECT_THAT(take_deeds(), ElementsAre("died q#1 attempt 1 held 0 ms failed: broken"));
}

TEST_F(ObservedJobs, AreToldWhenTheyAreReleasedOrSnoozed)
{
    job first = claim_new();
    EXPECT_TRUE(db_.run(first.release()));
    EXPECT_THAT(take_deeds(), ElementsAre("released q#1 attempt 1 held 0 ms for 0 s"));
    job again = claim();
    static_cast<void>(take());
    EXPECT_TRUE(db_.run(again.snooze(9s)));
    EXPECT_THAT(take_deeds(), ElementsAre("released q#1 attempt 2 held 0 ms for 9 s"));
}

TEST_F(ObservedJobs, AreToldWhenTheirHandleIsDropped)
{
    {
        const job unread = claim_new();
    }
    db_.settle();
    EXPECT_THAT(take_deeds(), ElementsAre("released q#1 attempt 1 held 0 ms for 0 s"));
    {
        const job read = claim();
        static_cast<void>(take());
        EXPECT_EQ(read.payload(), "null");
    }
    db_.settle();
    EXPECT_THAT(take_deeds(), ElementsAre("retried q#1 attempt 2 held 0 ms in 0 s: "));
}

TEST_F(ObservedJobs, AreToldWhenAWorkerComesTooLate)
{
    job slow = claim_new();
    db_.advance(301s);
    job taken = claim({.worker = "other"});
    EXPECT_THAT(take_deeds(), ElementsAre("claimed q#1 attempt 2/3 by other after 301 s"));
    EXPECT_FALSE(db_.run(slow.extend(1s)));
    EXPECT_FALSE(db_.run(slow.ack()));
    EXPECT_THAT(take_deeds(), ElementsAre("lost q#1 attempt 1 held 301000 ms at extend",
                                          "lost q#1 attempt 1 held 301000 ms at ack"));
    EXPECT_TRUE(db_.run(taken.extend(500s)));
    EXPECT_THAT(take_deeds(), IsEmpty()) << "a heartbeat is no news";
}

TEST_F(ObservedJobs, AreToldWhenTheyAreCancelled)
{
    enqueue();
    enqueue();
    enqueue();
    static_cast<void>(take());
    EXPECT_TRUE(db_.run(queue_.cancel(1)));
    EXPECT_FALSE(db_.run(queue_.cancel(1)));
    EXPECT_TRUE(db_.run(db_.database().cancel_job(2)));
    transact([&](transaction& tx) { EXPECT_TRUE(queue_.cancel(tx, 3)); });
    EXPECT_THAT(take_deeds(), ElementsAre("cancelled q#1", "cancelled q#2", "cancelled q#3"));
}

TEST_F(ObservedJobs, AreToldWhenTimeHasMadeThemDeadLettersAndAClaimFindsOut)
{
    static_cast<void>(claim_new({.max_attempts = 1}).detach());
    enqueue("null", {.expires_in = 10s});
    enqueue("null", {.expires_in = 10s});
    enqueue("null", {.delay = 1h});
    static_cast<void>(take());
    db_.advance(301s);
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_THAT(take_deeds(), ElementsAre("died q#2 attempt 0 expired: expired",
                                          "died q#3 attempt 0 expired: expired",
                                          "died q#1 attempt 0 exhausted: max attempts exceeded"));
}

TEST_F(ObservedJobs, AreToldWhenASweepFindsThemExpired)
{
    enqueue("null", {.expires_in = 10s});
    static_cast<void>(take());
    db_.advance(11s);
    EXPECT_EQ(db_.run(queue_.sweep_expired()), 1U);
    EXPECT_THAT(take_deeds(), ElementsAre("died q#1 attempt 0 expired: expired"));
    EXPECT_EQ(db_.run(queue_.sweep_expired()), 0U);
    EXPECT_THAT(take_deeds(), IsEmpty());
}

TEST_F(ObservedJobs, AreToldWhenTheyComeFromDeadLetters)
{
    for (int each = 0; each != 2; ++each) {
        job failing = claim_new();
        EXPECT_TRUE(db_.run(failing.fail("e")));
    }
    static_cast<void>(take());
    EXPECT_EQ(db_.run(queue_.dead_letters().redrive(1)), 3);
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#3 by dead letter"));
    EXPECT_EQ(db_.run(queue_.dead_letters().redrive_all()).size(), 1U);
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#4 by dead letter"));
}

TEST_F(ObservedJobs, AreToldWhenTheyComeFromSchedules)
{
    const scheduler schedules = db_.database().scheduler();
    db_.run(schedules.add("beat", "q", "@every 10s", "null"));
    static_cast<void>(take());
    const auto running = db_.start(schedules.run());
    db_.settle();
    db_.advance(10s);
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#1 by schedule"));
}

TEST_F(ObservedJobs, OfOthersAreNotTold)
{
    support::manual_database another(db_.path(), support::manual_database::quick(),
                                     db_.clock_to_share());
    another.run(another.database().queue("q").enqueue("null"));
    other_.sql("INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', 'null', 0)");
    transact([](transaction& tx) {
        tx.database().exec(
            "INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', 'null', 0)");
    });
    db_.settle();
    EXPECT_THAT(take_deeds(), IsEmpty());
    EXPECT_EQ(db_.run(queue_.try_claim_many(5, {.worker = "w"})).size(), 3U);
    EXPECT_THAT(take_deeds(), ::testing::SizeIs(3));
}

} // namespace
