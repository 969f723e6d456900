#include "queue/queue_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace skein;

class QueueClaim : public support::queue_fixture {};

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

} // namespace
