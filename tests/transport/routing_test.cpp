#include "transport/transports.hpp"

namespace skein::conformance {

namespace {

using ::testing::ElementsAre;

template <class Harness>
class TransportRouting : public transport_suite<Harness> {};

TYPED_TEST_SUITE(TransportRouting, transports, transport_names);

TYPED_TEST(TransportRouting, RoutingKeyFilters)
{
    this->queue.publish("g", "g1", 0, "a");
    this->queue.publish("h", "h1", 0, "b");
    EXPECT_THAT(this->queue.serve(2, of_keys({"b"})), ElementsAre("h1", "none"));
}

TYPED_TEST(TransportRouting, RoutingAbsentMeansAll)
{
    this->queue.publish("g", "g1", 0, "a");
    this->queue.publish("h", "h1", 0, "b");
    this->queue.publish("i", "i1");
    EXPECT_THAT(this->queue.serve(3), ElementsAre("g1", "h1", "i1"));
}

TYPED_TEST(TransportRouting, RoutingEmptyListMatchesNothing)
{
    this->queue.publish("g", "g1", 0, "a");
    this->queue.publish("h", "h1");
    EXPECT_EQ(this->queue.claim_payload(of_keys({})), "none");
}

TYPED_TEST(TransportRouting, RoutingManyKeysFair)
{
    for (const char* each : {"1", "2", "3"}) {
        this->queue.publish("a", std::string("a") + each, 0, "x");
        this->queue.publish("b", std::string("b") + each, 0, "y");
        this->queue.publish("c", std::string("c") + each, 0, "z");
    }
    EXPECT_THAT(this->queue.serve(7, of_keys({"y", "x"})),
                ElementsAre("a1", "b1", "a2", "b2", "a3", "b3", "none"));
}

TYPED_TEST(TransportRouting, ManyKeysMayBeAskedFor)
{
    std::vector<std::string> keys;
    for (int each = 0; each < 3'000; ++each) {
        keys.push_back("key" + std::to_string(each));
    }
    this->queue.publish("g", "last", 0, "key2999");
    this->queue.publish("h", "first", 0, "key0");
    this->queue.publish("i", "other", 0, "key3000");
    EXPECT_THAT(this->queue.serve(3, of_keys(keys)), ElementsAre("last", "first", "none"));
}

TYPED_TEST(TransportRouting, AKeyMayBeAskedForTwice)
{
    this->queue.publish("g", "e1", 0, "a");
    this->queue.publish("g", "e2", 0, "a");
    EXPECT_THAT(this->queue.serve(3, of_keys({"a", "a"})), ElementsAre("e1", "e2", "none"));
}

TYPED_TEST(TransportRouting, GroupsWithoutKeyMatchNoKey)
{
    this->queue.publish("g", "m");
    EXPECT_EQ(this->queue.claim_payload(of_keys({"a"})), "none");
    EXPECT_EQ(this->queue.claim_payload(of_keys({""})), "none");
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportRouting, RoutingNullGroups)
{
    this->queue.publish("plain", "plain");
    this->queue.publish("a", "a", 0, "a");
    this->queue.publish("b", "b", 0, "b");
    claim_request request = of_keys({"a"});
    request.or_without_key = true;
    EXPECT_THAT(this->queue.serve(3, request), ElementsAre("plain", "a", "none"));
    request.routing_keys->clear();
    this->queue.publish("plain", "plain");
    EXPECT_THAT(this->queue.serve(2, request), ElementsAre("plain", "none"));
    request.or_without_key = false;
    EXPECT_EQ(this->queue.claim_payload(request), "none");
}

TYPED_TEST(TransportRouting, WaitersForGroupsWithoutKeyStandInALineOfTheirOwn)
{
    claim_request request = of_keys({"a"});
    auto of_key = this->queue.start_claim(request);
    request.or_without_key = true;
    auto or_without = this->queue.start_claim(request);
    this->queue.publish("g", "m");
    EXPECT_FALSE(of_key.is_done());
    EXPECT_TRUE(or_without.is_done());
}

TYPED_TEST(TransportRouting, AnEmptyKeyIsAKey)
{
    this->queue.publish("g", "m", 0, "");
    EXPECT_EQ(this->queue.claim_payload(of_keys({"a"})), "none");
    EXPECT_EQ(this->queue.claim_payload(of_keys({""})), "m");
}

TYPED_TEST(TransportRouting, RoutingFirstPublishWins)
{
    this->queue.publish("g", "e1", 0, "a");
    this->queue.publish("g", "e2", 0, "b");
    EXPECT_EQ(this->queue.claim_payload(of_keys({"b"})), "none");
    this->queue.serve(2);
    this->queue.publish("g", "e3", 0, "b");
    EXPECT_EQ(this->queue.claim_payload(of_keys({"b"})), "e3");
}

TYPED_TEST(TransportRouting, RoutingWithPriority)
{
    this->queue.publish("a", "a", 0, "x");
    this->queue.publish("b", "b", 3, "y");
    this->queue.publish("c", "c", 1, "x");
    this->queue.publish("d", "d", 3, "x");
    EXPECT_THAT(this->queue.serve(3, of_keys({"x"}, 1)), ElementsAre("c", "d", "none"));
    EXPECT_THAT(this->queue.serve(2, of_keys({"x", "y"}, 3)), ElementsAre("b", "none"));
}

} // namespace

} // namespace skein::conformance
