#include "support/plain_connection.hpp"
#include "transport/transports.hpp"

namespace skein::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

template <class Harness>
class TransportDelivery : public transport_suite<Harness> {};

TYPED_TEST_SUITE(TransportDelivery, transports, transport_names);

TYPED_TEST(TransportDelivery, NoneOnEmpty)
{
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportDelivery, FifoWithinGroup)
{
    this->queue.publish("g", "e1");
    this->queue.publish("g", "e2");
    EXPECT_THAT(this->queue.serve(3), ElementsAre("e1", "e2", "none"));
}

TYPED_TEST(TransportDelivery, OneInFlightPerGroup)
{
    this->queue.publish("g", "g1");
    this->queue.publish("g", "g2");
    this->queue.publish("h", "h1");
    const auto first = this->queue.claim().value();
    EXPECT_EQ(first.payload, "g1");
    EXPECT_EQ(first.group, "g");
    EXPECT_EQ(this->queue.claim_payload(), "h1");
    EXPECT_EQ(this->queue.claim_payload(), "none");
    EXPECT_TRUE(this->queue.ack(first));
    EXPECT_EQ(this->queue.claim_payload(), "g2");
}

TYPED_TEST(TransportDelivery, AckRemoves)
{
    this->queue.publish("g", "m");
    EXPECT_THAT(this->queue.serve(1), ElementsAre("m"));
    this->queue.set_time(10'000);
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportDelivery, NackReturnsAtOnce)
{
    this->queue.publish("g", "e1");
    this->queue.publish("g", "e2");
    EXPECT_TRUE(this->queue.nack(this->queue.claim().value()));
    EXPECT_EQ(this->queue.claim_payload(), "e1");
}

TYPED_TEST(TransportDelivery, NackDelayParks)
{
    this->queue.publish("g", "m");
    EXPECT_TRUE(this->queue.nack(this->queue.claim().value(), 5));
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(105);
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(106);
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportDelivery, ParkBlocksWholeGroup)
{
    this->queue.publish("g", "e1");
    EXPECT_TRUE(this->queue.nack(this->queue.claim().value(), 50));
    this->queue.publish("g", "e2");
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(151);
    EXPECT_THAT(this->queue.serve(2), ElementsAre("e1", "e2"));
}

TYPED_TEST(TransportDelivery, ParkDoesNotBlockOthers)
{
    this->queue.publish("g", "g1");
    EXPECT_TRUE(this->queue.nack(this->queue.claim().value(), 50));
    this->queue.publish("h", "h1");
    EXPECT_EQ(this->queue.claim_payload(), "h1");
}

TYPED_TEST(TransportDelivery, NegativeDelayIsZero)
{
    this->queue.publish("g", "m");
    EXPECT_TRUE(this->queue.nack(this->queue.claim().value(), -3));
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportDelivery, RoundRobinYields)
{
    for (int each = 0; each < 5; ++each) {
        this->queue.publish("a", "a");
    }
    this->queue.publish("b", "b");
    this->queue.set_time(101);
    const auto first = this->queue.claim().value();
    EXPECT_EQ(first.group, "a");
    this->queue.set_time(102);
    EXPECT_TRUE(this->queue.ack(first));
    this->queue.set_time(103);
    EXPECT_EQ(this->queue.claim_payload(), "b");
}

TYPED_TEST(TransportDelivery, NeverClaimedBeforeServed)
{
    for (int each = 0; each < 5; ++each) {
        this->queue.publish("a", "a");
    }
    this->queue.serve(1);
    this->queue.set_time(200);
    this->queue.publish("b", "b");
    EXPECT_EQ(this->queue.claim_payload(), "b");
}

TYPED_TEST(TransportDelivery, TieByArrival)
{
    for (const char* each : {"c", "a", "b"}) {
        this->queue.publish(each, each);
    }
    EXPECT_EQ(this->queue.claim_payload(), "c");
    EXPECT_EQ(this->queue.claim_payload(), "a");
    EXPECT_EQ(this->queue.claim_payload(), "b");
}

TYPED_TEST(TransportDelivery, ManyGroupsAllServed)
{
    std::vector<std::string> all;
    for (int each = 0; each < 13; ++each) {
        all.push_back("g" + std::to_string(each));
        this->queue.publish(all.back(), all.back());
    }
    EXPECT_THAT(this->queue.serve(13), ::testing::UnorderedElementsAreArray(all));
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportDelivery, NackKeepsFairnessPlace)
{
    this->queue.publish("g", "g1");
    const auto claimed = this->queue.claim().value();
    this->queue.publish("h", "h1");
    EXPECT_TRUE(this->queue.nack(claimed));
    EXPECT_EQ(this->queue.claim_payload(), "h1");
}

TYPED_TEST(TransportDelivery, FrozenClockRotates)
{
    for (const char* each : {"0", "1", "2", "3"}) {
        this->queue.publish("a", std::string("a") + each);
        this->queue.publish("b", std::string("b") + each);
    }
    EXPECT_THAT(this->queue.serve(8), ElementsAre("a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"));
}

TYPED_TEST(TransportDelivery, BackwardClock)
{
    for (const char* each : {"0", "1", "2"}) {
        this->queue.publish("a", std::string("a") + each);
        this->queue.publish("b", std::string("b") + each);
    }
    this->queue.set_time(10'000);
    EXPECT_THAT(this->queue.serve(1), ElementsAre("a0"));
    this->queue.set_wall(6'400);
    EXPECT_THAT(this->queue.serve(5), ElementsAre("b0", "a1", "b1", "a2", "b2"));
}

TYPED_TEST(TransportDelivery, EqualPayloadsAreTwoMessages)
{
    this->queue.publish("g", "same");
    this->queue.publish("g", "same");
    EXPECT_THAT(this->queue.serve(3), ElementsAre("same", "same", "none"));
}

TYPED_TEST(TransportDelivery, SeenByOthersOnceItIsCommitted)
{
    this->queue.publish("g", "e1");
    this->other().publish("g", "e2");
    EXPECT_THAT(this->other().serve(1), ElementsAre("e1"));
    EXPECT_THAT(this->queue.serve(2), ElementsAre("e2", "none"));
}

TYPED_TEST(TransportDelivery, OneConnectionInterleave)
{
    for (const char* each : {"a", "b", "c"}) {
        this->queue.publish(each, each);
    }
    const auto first = this->queue.claim().value();
    auto& database = this->queue.database();
    const auto& transport = this->queue.transport();
    auto one = database.start(transport.try_claim());
    auto ack = first.message ? database.start(first.message->ack())
                             : database.start(transport.ack(first.fence));
    auto two = database.start(transport.try_claim());
    database.settle();
    EXPECT_TRUE(ack.result());
    const auto second = one.result();
    const auto third = two.result();
    EXPECT_EQ(second->payload(), "b");
    EXPECT_EQ(third->payload(), "c");
    EXPECT_THAT(this->other().serve(1), ElementsAre("none"));
    this->other().publish("d", "d");
}

TYPED_TEST(TransportDelivery, PublishRacesDrainingAck)
{
    // Every interleaving that one batch, or two connections, can make of them.
    for (int round = 0; round < 4; ++round) {
        const std::string group = "g" + std::to_string(round);
        this->queue.publish(group, "first");
        const auto first = this->queue.claim().value();
        auto& publisher = round % 2 == 0 ? this->queue : this->other();
        auto& database = this->queue.database();
        const auto acked = [&] {
            return first.message ? database.start(first.message->ack())
                                 : database.start(this->queue.transport().ack(first.fence));
        };
        auto publish = [&] {
            return publisher.database().start(publisher.transport().publish(group, "second"));
        };
        if (round < 2) {
            auto published = publish();
            auto ack = acked();
            publisher.database().settle();
            database.settle();
            EXPECT_TRUE(ack.result());
            published.result();
        } else {
            auto ack = acked();
            auto published = publish();
            database.settle();
            publisher.database().settle();
            EXPECT_TRUE(ack.result());
            published.result();
        }
        EXPECT_THAT(this->queue.serve(2), ElementsAre("second", "none"));
    }
}

TYPED_TEST(TransportDelivery, DeliversBytesAsTheyWerePublished)
{
    const std::vector<std::string> payloads{
        "",
        std::string("a\0b\0", 4),
        "gr\xc3\xbc\xc3\x9f \xf0\x9f\xaa\xbf",
        "not UTF-8: \xff\xfe\xc3",
        std::string(1'000'000, 'x'),
    };
    for (const std::string& each : payloads) {
        this->queue.publish(each, each);
    }
    for (const std::string& each : payloads) {
        const auto claimed = this->queue.claim();
        ASSERT_TRUE(claimed);
        EXPECT_EQ(claimed->payload, each);
        EXPECT_EQ(claimed->group, each);
    }
}

TYPED_TEST(TransportDelivery, AMessageIsFoundBehindAnyNumberOfGhosts)
{
    this->queue.publish("first", "first");
    support::plain_connection(this->queue.database().path())
        .sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)"
             " INSERT INTO harel_transport_groups (group_id) SELECT 'ghost' || i FROM n");
    this->queue.publish("last", "last");
    EXPECT_THAT(this->queue.serve(3), ElementsAre("first", "last", "none"));
    auto waiting = this->queue.start_claim();
    this->queue.publish("later", "later");
    EXPECT_TRUE(waiting.is_done());
}

} // namespace

} // namespace skein::conformance
