#include "queue/queue_fixture.hpp"

#include <chrono>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;

class StopRequests : public support::queue_fixture {};

TEST_F(StopRequests, AHeartbeatLearnsOfIt)
{
    const std::int64_t id = enqueue("1");
    job running = claim();
    EXPECT_TRUE(db_.run(running.extend(30s)));
    EXPECT_FALSE(running.stop_requested());

    EXPECT_TRUE(db_.run(queue_.request_stop(id)));
    EXPECT_FALSE(running.stop_requested());
    EXPECT_TRUE(db_.run(running.extend(30s)));

    EXPECT_TRUE(running.stop_requested());
    EXPECT_TRUE(db_.run(running.ack()));
    EXPECT_EQ(value("SELECT count(*) FROM _skein_stop_requests"), "0");
}

TEST_F(StopRequests, AHeartbeatOfManyLearnsOfIt)
{
    enqueue("1");
    const std::int64_t id = enqueue("2");
    std::vector<job> running = db_.run(queue_.try_claim_many(2));
    EXPECT_TRUE(db_.run(queue_.request_stop(id)));
    EXPECT_THAT(db_.run(queue_.extend_many(running, 30s)), ::testing::ElementsAre(true, true));

    EXPECT_FALSE(running[0].stop_requested());
    EXPECT_TRUE(running[1].stop_requested());
}

TEST_F(StopRequests, AHeartbeatInsideATransactionLearnsOfIt)
{
    const std::int64_t id = enqueue("1");
    job running = claim();
    const auto request_and_extend = [&](transaction& tx) {
        EXPECT_TRUE(queue_.request_stop(tx, id));
        EXPECT_TRUE(running.extend(tx, 30s));
    };
    db_.run(db_.database().transaction(request_and_extend));

    EXPECT_TRUE(running.stop_requested());
}

TEST_F(StopRequests, ItIsForThisClaimAlone)
{
    const std::int64_t id = enqueue("1");
    job first = claim();
    EXPECT_TRUE(db_.run(queue_.request_stop(id)));
    EXPECT_EQ(db_.run(first.retry()), retry_outcome::waiting);

    job second = claim();
    EXPECT_TRUE(db_.run(second.extend(30s)));
    EXPECT_FALSE(second.stop_requested());
    EXPECT_TRUE(db_.run(queue_.request_stop(id)));
    EXPECT_TRUE(db_.run(second.extend(30s)));
    EXPECT_TRUE(second.stop_requested());
}

TEST_F(StopRequests, OnlyWhatIsClaimedCanBeAsked)
{
    const std::int64_t id = enqueue("1");
    EXPECT_FALSE(db_.run(queue_.request_stop(id)));
    EXPECT_FALSE(db_.run(queue_.request_stop(99)));
    const job running = claim();
    EXPECT_FALSE(db_.run(db_.database().queue("other").request_stop(id)));
}

TEST_F(StopRequests, OneThatIsRolledBackWithItsTablesIsNothing)
{
    const std::int64_t id = enqueue("1");
    job running = claim();
    const auto request_and_fail = [&](transaction& tx) {
        EXPECT_TRUE(queue_.request_stop(tx, id));
        EXPECT_TRUE(running.extend(tx, 30s));
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(request_and_fail)), std::runtime_error);
    EXPECT_FALSE(running.stop_requested());

    EXPECT_TRUE(db_.run(running.extend(30s)));
    EXPECT_FALSE(running.stop_requested());
    EXPECT_TRUE(db_.run(queue_.request_stop(id)));
}

} // namespace
