#include "transport/transports.hpp"

#include <skein/error.hpp>

#include <algorithm>
#include <limits>

namespace skein::conformance {

namespace {

using ::testing::ElementsAre;

template <class Harness>
class TransportPriority : public transport_suite<Harness> {};

TYPED_TEST_SUITE(TransportPriority, transports, transport_names);

TYPED_TEST(TransportPriority, MinPriorityFilters)
{
    this->queue.publish("lo", "lo", 0);
    this->queue.publish("hi", "hi", 2);
    EXPECT_THAT(this->queue.serve(2, at_least(2)), ElementsAre("hi", "none"));
    EXPECT_THAT(this->queue.serve(1), ElementsAre("lo"));
}

TYPED_TEST(TransportPriority, HighReachableBehindBacklog)
{
    for (int each = 0; each < 96; ++each) {
        this->queue.publish("g" + std::to_string(each), "low");
    }
    this->queue.publish("zzz", "high", 3);
    EXPECT_THAT(this->queue.serve(2, at_least(1)), ElementsAre("high", "none"));
}

TYPED_TEST(TransportPriority, PriorityIsFloorNotOrder)
{
    this->queue.publish("lo", "lo", 0);
    this->queue.publish("hi", "hi", 4);
    EXPECT_THAT(this->queue.serve(2), ElementsAre("lo", "hi"));
}

TYPED_TEST(TransportPriority, PriorityFirstPublishWins)
{
    this->queue.publish("g", "e1", 0);
    this->queue.publish("g", "e2", 4);
    EXPECT_EQ(this->queue.claim_payload(at_least(1)), "none");
}

TYPED_TEST(TransportPriority, PriorityResetsOnDrain)
{
    this->queue.publish("g", "e1", 0);
    this->queue.serve(1);
    this->queue.publish("g", "e2", 2);
    EXPECT_EQ(this->queue.claim_payload(at_least(2)), "e2");
}

TYPED_TEST(TransportPriority, PriorityKeptWhileBacklog)
{
    this->queue.publish("g", "e1");
    this->queue.publish("g", "e2");
    this->queue.serve(1);
    this->queue.publish("g", "e3", 4);
    EXPECT_EQ(this->queue.claim_payload(at_least(1)), "none");
    EXPECT_EQ(this->queue.claim_payload(), "e2");
}

TYPED_TEST(TransportPriority, EveryFloorTakesWhatIsAtOrAboveIt)
{
    for (int floor = 0; floor <= 4; ++floor) {
        for (int priority = 0; priority <= 4; ++priority) {
            const std::string name = std::to_string(floor) + std::to_string(priority);
            this->queue.publish(name, name, priority);
        }
        const auto served = this->queue.serve(6, at_least(floor));
        EXPECT_EQ(std::count(served.begin(), served.end(), "none"), 1 + floor) << floor;
        this->queue.serve(5);
    }
}

TYPED_TEST(TransportPriority, PriorityOutOfRange)
{
    for (const int priority : {-1, 5, 99, std::numeric_limits<int>::min()}) {
        EXPECT_THROW(this->queue.publish("g", "m", priority), error) << priority;
        EXPECT_THROW(this->queue.claim(at_least(priority)), error) << priority;
    }
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

} // namespace

} // namespace skein::conformance
