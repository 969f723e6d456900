#include "queue/queue_fixture.hpp"

#include "support/operation.hpp"

#include <chrono>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Concurrency : public support::queue_fixture {
protected:
    std::int64_t add(std::string_view payload, std::string_view key, std::int64_t limit,
                     enqueue_options options = {})
    {
        options.concurrency = {.key = key, .limit = limit};
        return enqueue(payload, options);
    }

    std::vector<job> claim_all()
    {
        return db_.run(queue_.try_claim_many(1000, {.visibility = 30s}));
    }

    static std::vector<std::string> payloads(const std::vector<job>& jobs)
    {
        std::vector<std::string> all;
        for (const job& each : jobs) {
            all.emplace_back(each.payload());
        }
        return all;
    }

    std::vector<std::string> claim_payloads()
    {
        std::vector<job> claimed = claim_all();
        std::vector<std::string> all = payloads(claimed);
        for (job& each : claimed) {
            held_.push_back(std::move(each));
        }
        return all;
    }

    std::vector<job> held_;
};

TEST_F(Concurrency, OnlySoManyOfAKeyRun)
{
    for (const char* each : {"1", "2", "3", "4"}) {
        add(each, "tenant-7", 2);
    }
    add("5", "tenant-8", 2);
    enqueue("6");

    EXPECT_THAT(claim_payloads(), ElementsAre("1", "2", "5", "6"));
    EXPECT_THAT(claim_payloads(), IsEmpty());
}

TEST_F(Concurrency, EveryKindOfEndGivesThePlaceToTheNext)
{
    for (const char* each : {"1", "2", "3", "4", "5"}) {
        add(each, "k", 1, {.max_attempts = 1});
    }
    EXPECT_THAT(claim_payloads(), ElementsAre("1"));
    EXPECT_TRUE(db_.run(held_.back().ack()));
    EXPECT_THAT(claim_payloads(), ElementsAre("2"));
    EXPECT_TRUE(db_.run(held_.back().fail("no")));
    EXPECT_THAT(claim_payloads(), ElementsAre("3"));
    EXPECT_EQ(db_.run(held_.back().retry()), retry_outcome::dead);
    EXPECT_THAT(claim_payloads(), ElementsAre("4"));
    EXPECT_TRUE(db_.run(queue_.cancel(held_.back().id())));
    EXPECT_THAT(claim_payloads(), ElementsAre("5"));
}

TEST_F(Concurrency, AJobThatWaitsForAnotherAttemptLeavesItsPlace)
{
    add("1", "k", 1);
    add("2", "k", 1);
    EXPECT_THAT(claim_payloads(), ElementsAre("1"));
    EXPECT_EQ(db_.run(held_.back().retry(5s)), retry_outcome::waiting);

    EXPECT_THAT(claim_payloads(), ElementsAre("2"));
    db_.advance(10s);
    EXPECT_THAT(claim_payloads(), IsEmpty());
    EXPECT_TRUE(db_.run(held_.back().ack()));
    EXPECT_THAT(claim_payloads(), ElementsAre("1"));
}

TEST_F(Concurrency, ADeadHolderFreesItsPlaceWhenItsJobIsClaimedAgain)
{
    add("1", "k", 1);
    add("2", "k", 1);
    EXPECT_THAT(claim_payloads(), ElementsAre("1"));

    db_.advance(31s);
    EXPECT_THAT(claim_payloads(), ElementsAre("1"));
    EXPECT_TRUE(db_.run(held_.back().ack()));
    EXPECT_THAT(claim_payloads(), ElementsAre("2"));
}

TEST_F(Concurrency, ADeadHolderFreesItsPlaceWhenItsJobIsBuried)
{
    add("1", "k", 1, {.max_attempts = 1});
    add("2", "k", 1);
    EXPECT_THAT(claim_payloads(), ElementsAre("1"));

    db_.advance(31s);
    EXPECT_THAT(claim_payloads(), ElementsAre("2"));
}

TEST_F(Concurrency, TheOrderIsThatOfClaims)
{
    add("1", "k", 1);
    add("2", "k", 1, {.delay = 1s, .priority = 9});
    add("3", "k", 1, {.priority = 5});
    add("4", "k", 1, {.priority = 3});
    db_.advance(1s);

    std::vector<std::string> order;
    for (int i = 0; i < 4; ++i) {
        const std::vector<std::string> next = claim_payloads();
        ASSERT_EQ(next.size(), 1U);
        order.push_back(next.front());
        EXPECT_TRUE(db_.run(held_.back().ack()));
    }
    EXPECT_THAT(order, ElementsAre("2", "3", "4", "1"));
}

TEST_F(Concurrency, TheLimitThatWasSaidLastHoldsForAll)
{
    for (int i = 0; i < 5; ++i) {
        add("1", "k", 1);
    }
    EXPECT_EQ(claim_payloads().size(), 1U);
    add("2", "k", 4);
    EXPECT_EQ(claim_payloads().size(), 3U);
    add("3", "k", 2);
    EXPECT_TRUE(db_.run(held_[0].ack()));
    EXPECT_TRUE(db_.run(held_[1].ack()));
    EXPECT_THAT(claim_payloads(), IsEmpty());
    EXPECT_TRUE(db_.run(held_[2].ack()));
    EXPECT_EQ(claim_payloads().size(), 1U);
}

TEST_F(Concurrency, ALoweredLimitHoldsForThoseThatWaitAlready)
{
    for (int i = 0; i < 4; ++i) {
        add("1", "k", 4);
    }
    add("2", "k", 1);

    EXPECT_EQ(claim_payloads().size(), 1U);
}

TEST_F(Concurrency, AWaitingClaimIsWokenByThePlaceThatIsFreed)
{
    add("1", "k", 1);
    add("2", "k", 1);
    job first = claim();
    auto waiting = db_.start(queue_.claim());
    EXPECT_FALSE(waiting.is_done());

    EXPECT_TRUE(db_.run(first.ack()));

    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "2");
}

TEST_F(Concurrency, AWaitingClaimIsWokenWhenADeadHolderHasHadItsLastAttempt)
{
    add("1", "k", 1, {.max_attempts = 1});
    add("2", "k", 1);
    EXPECT_THAT(claim_payloads(), ElementsAre("1"));
    auto waiting = db_.start(queue_.claim());
    db_.advance(30s);
    EXPECT_FALSE(waiting.is_done());

    db_.advance(1s);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "2");
}

TEST_F(Concurrency, AWaitingClaimIsWokenWhenADeadHolderHasExpired)
{
    add("1", "k", 1, {.expires_in = 5s});
    add("2", "k", 1);
    EXPECT_THAT(claim_payloads(), ElementsAre("1"));
    auto waiting = db_.start(queue_.claim());
    db_.advance(6s);
    EXPECT_FALSE(waiting.is_done());

    db_.advance(25s);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "2");
}

TEST_F(Concurrency, AJobThatIsHeldIsToldAsItIs)
{
    add("1", "k", 1);
    const std::int64_t held = add("2", "k", 1, {.priority = -3});

    const std::optional<job_info> info = db_.run(queue_.find(held));
    ASSERT_TRUE(info);
    EXPECT_TRUE(info->is_held);
    EXPECT_EQ(info->state, job_state::scheduled);
    EXPECT_EQ(info->run_at, clock::wall_time{100s});
    const queue_counts counts = db_.run(queue_.counts());
    EXPECT_EQ(counts.pending, 1U);
    EXPECT_EQ(counts.scheduled, 1U);
    EXPECT_EQ(counts.held, 1U);
    EXPECT_FALSE(counts.next_due);
    const auto listed = db_.run(queue_.list(job_state::scheduled));
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_TRUE(listed.front().is_held);
}

TEST_F(Concurrency, AJobThatIsHeldCanBeCancelledAndExpires)
{
    add("1", "k", 1);
    const std::int64_t cancelled = add("2", "k", 1);
    const std::int64_t expired = add("3", "k", 1, {.expires_in = 10s});
    add("4", "k", 1);
    const job running = claim();

    EXPECT_TRUE(db_.run(queue_.cancel(cancelled)));
    db_.advance(10s);
    EXPECT_EQ(db_.run(queue_.sweep_expired()), 1U);

    EXPECT_EQ(state_of(expired), "dead: expired");
    EXPECT_EQ(value("SELECT run_at FROM _honker_dead"), "100");
    EXPECT_EQ(value("SELECT count(*) FROM _skein_limited_jobs"), "2");
}

TEST_F(Concurrency, NothingIsLeftOfAKeyThatNobodyUses)
{
    add("1", "k", 1);
    EXPECT_TRUE(db_.run(claim().ack()));

    EXPECT_EQ(value("SELECT count(*) FROM _skein_limited_jobs"), "0");
    EXPECT_EQ(value("SELECT count(*) FROM _skein_job_limits"), "0");
}

TEST_F(Concurrency, AProgramThatKnowsTheSharedTablesKeepsToTheLimit)
{
    add("1", "k", 1);
    add("2", "k", 1);
    const std::string claim = "UPDATE _honker_live SET state = 'processing', worker_id = 'w',"
                              " claim_expires_at = 1000, attempts = attempts + 1 WHERE id IN"
                              " (SELECT id FROM _honker_live WHERE queue = 'q' AND state ="
                              " 'pending' ORDER BY priority DESC, run_at, id LIMIT 9)";
    const std::string running = "SELECT group_concat(payload) FROM _honker_live WHERE state ="
                                " 'processing'";
    other_.sql(claim);
    EXPECT_EQ(value(running), "1");
    other_.sql(claim);
    EXPECT_EQ(value(running), "1");
    other_.sql("DELETE FROM _honker_live WHERE payload = '1'");
    other_.sql(claim);
    EXPECT_EQ(value(running), "2");
}

TEST_F(Concurrency, AJobThatIsMadeOfADeadLetterIsLimitedAsThatWas)
{
    add("1", "k", 1);
    add("2", "k", 1);
    const std::int64_t dead = claim().id();
    EXPECT_TRUE(db_.run(queue_.cancel(dead)));
    job second = claim();
    const std::int64_t letter = second.id();
    EXPECT_TRUE(db_.run(second.fail("no")));
    EXPECT_EQ(value("SELECT count(*) FROM _skein_job_limits"), "0");

    EXPECT_TRUE(db_.run(queue_.dead_letters().redrive(letter)));
    add("3", "k", 1);
    job third = claim();
    EXPECT_EQ(third.payload(), "2");
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(value("SELECT count(*) FROM _skein_limited_letters"), "0");
}

TEST_F(Concurrency, LimitsMustBePositive)
{
    try {
        add("1", "k", 0);
        FAIL();
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
        EXPECT_THAT(refused.what(), ::testing::HasSubstr("limit must be at least 1, got 0"));
    }
}

} // namespace
