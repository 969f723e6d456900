#include "queue/queue_fixture.hpp"
#include "support/statement_cost.hpp"
#include "support/statement_counter.hpp"

#include <chrono>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

/// A file in which nobody uses keys, pauses, or requests to stop.
class UnusedFeatures : public support::queue_fixture {
protected:
    void work()
    {
        enqueue("1");
        enqueue("2", {.delay = 10s, .expires_in = 1h});
        job running = claim({.visibility = 30s});
        EXPECT_TRUE(db_.run(running.extend(60s)));
        EXPECT_EQ(db_.run(running.retry()), retry_outcome::waiting);
        EXPECT_TRUE(db_.run(claim().ack()));
        auto waiting = db_.start(queue_.claim());
        db_.advance(10s);
        EXPECT_TRUE(db_.run(waiting.result().fail("no")));
        EXPECT_TRUE(db_.run(queue_.cancel(enqueue("3"))));
        EXPECT_TRUE(db_.run(queue_.change(enqueue("4"), {.priority = 1})));
        static_cast<void>(db_.run(queue_.find(4)));
        static_cast<void>(db_.run(queue_.counts()));
        static_cast<void>(db_.run(queue_.list(job_state::pending)));
        EXPECT_EQ(db_.run(queue_.sweep_expired()), 0U);
        other_.sql("DELETE FROM _honker_live");
    }
};

TEST_F(UnusedFeatures, HaveNoStatementAndNoTable)
{
    work();
    const std::vector<std::string> plans = support::query_plans(db_.handle());
    EXPECT_GT(plans.size(), 10U);
    for (const char* table : {"_skein_paused_", "_skein_job_limits ", "_skein_limited_jobs ",
                              "_skein_unique_jobs ", "_skein_stop_requests "}) {
        EXPECT_THAT(plans, Each(Not(HasSubstr(table))));
    }
    EXPECT_EQ(value("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"), "0");
}

TEST_F(UnusedFeatures, AHeartbeatLooksOnceWhetherThereAreRequests)
{
    enqueue("1");
    job running = claim({.visibility = 30s});
    EXPECT_TRUE(db_.run(running.extend(60s)));
    const support::statement_counter statements(db_.handle());
    EXPECT_TRUE(db_.run(running.extend(60s)));
    EXPECT_EQ(statements.count("sqlite_schema"), 1U);
    EXPECT_EQ(statements.count("_skein_"), 1U);
}

} // namespace
