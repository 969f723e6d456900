#include "queue/queue_fixture.hpp"
#include "support/statement_counter.hpp"

namespace {

using namespace std::chrono_literals;
using namespace skein;

class QueueSweep : public support::queue_fixture {
protected:
    std::size_t sweep() { return db_.run(queue_.sweep_expired()); }
};

TEST_F(QueueSweep, MakesDeadLettersOfAllJobsThatHaveExpired)
{
    const std::int64_t ready = enqueue("null", {.expires_in = 5s});
    const std::int64_t later = enqueue("null", {.delay = 1h, .expires_in = 5s});
    const std::int64_t good = enqueue("null", {.expires_in = 6s});
    const std::int64_t eternal = enqueue();
    const skein::queue another = db_.database().queue("another");
    const std::int64_t theirs = db_.run(another.enqueue("1", {.expires_in = 5s}));
    db_.advance(4s);
    EXPECT_EQ(sweep(), 0U);
    db_.advance(1s);
    EXPECT_EQ(sweep(), 2U);
    EXPECT_EQ(state_of(ready), "dead: expired");
    EXPECT_EQ(state_of(later), "dead: expired");
    EXPECT_EQ(state_of(good), "pending");
    EXPECT_EQ(state_of(eternal), "pending");
    EXPECT_EQ(state_of(theirs), "pending");
    EXPECT_EQ(sweep(), 0U);
}

TEST_F(QueueSweep, LeavesAJobToItsWorkerWhileTheLeaseHolds)
{
    const std::int64_t id = enqueue("null", {.expires_in = 5s});
    EXPECT_EQ(claim({.visibility = 20s}).detach().id(), id);
    db_.advance(20s);
    EXPECT_EQ(sweep(), 0U);
    db_.advance(1s);
    EXPECT_EQ(sweep(), 1U);
    EXPECT_EQ(state_of(id), "dead: expired");
}

TEST_F(QueueSweep, TakesMoreThanAClaimDoes)
{
    other_.sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2300)"
               " INSERT INTO _honker_live (queue, payload, expires_at) SELECT 'q', '1', 50 FROM n");
    const support::statement_counter statements(db_.handle());
    EXPECT_EQ(sweep(), 2300U);
    EXPECT_EQ(statements.count("COMMIT"), 1U);
    EXPECT_EQ(db_.run(queue_.counts()).dead, 2300U);
}

TEST_F(QueueSweep, HappensIfAndWhenTheTransactionCommits)
{
    const std::int64_t id = enqueue("null", {.expires_in = 0s});
    auto undone = [&](transaction& tx) {
        EXPECT_EQ(queue_.sweep_expired(tx), 1U);
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(undone)), std::runtime_error);
    EXPECT_EQ(state_of(id), "pending");
    auto done = [&](transaction& tx) { EXPECT_EQ(queue_.sweep_expired(tx), 1U); };
    db_.run(db_.database().transaction(done));
    EXPECT_EQ(state_of(id), "dead: expired");
}

} // namespace
