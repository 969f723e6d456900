#include "transport/transports.hpp"

namespace skein::conformance {

namespace {

using ::testing::ElementsAre;

template <class Harness>
class TransportLease : public transport_suite<Harness> {
protected:
    /// A message whose first lease ended at 110 and that a second worker holds since 111.
    struct taken_over {
        held before;
        held now;
    };

    taken_over take_over(double visibility = 10, const std::string& second_worker = "w2")
    {
        this->queue.publish("g", "e1");
        this->queue.publish("g", "e2");
        const auto before = this->queue.claim(by_worker("w1", 10));
        this->queue.set_time(111);
        const auto now = this->other().claim(by_worker(second_worker, visibility));
        EXPECT_TRUE(before && now && now->payload == "e1");
        return {before.value(), now.value()};
    }
};

TYPED_TEST_SUITE(TransportLease, transports, transport_names);

TYPED_TEST(TransportLease, TellsItsEnd)
{
    this->queue.publish("a", "a");
    this->queue.publish("b", "b");
    EXPECT_EQ(this->queue.claim(for_seconds(12.5)).value().expires_at, 112.5);
    EXPECT_EQ(this->queue.claim().value().expires_at, 130);
}

TYPED_TEST(TransportLease, LeaseExpiryRedelivers)
{
    this->queue.publish("g", "e1");
    this->queue.claim(for_seconds(10));
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(111);
    EXPECT_EQ(this->queue.claim_payload(), "e1");
}

TYPED_TEST(TransportLease, ExpiryBoundaryInclusive)
{
    this->queue.publish("g", "e1");
    this->queue.claim(for_seconds(10));
    this->queue.set_time(110);
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(110.000001);
    EXPECT_EQ(this->queue.claim_payload(), "e1");
}

TYPED_TEST(TransportLease, ZeroVisibility)
{
    this->queue.publish("g", "e1");
    this->queue.claim(for_seconds(0));
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(100.001);
    EXPECT_EQ(this->queue.claim_payload(), "e1");
}

TYPED_TEST(TransportLease, StaleAckIsNoop)
{
    const auto lease = this->take_over();
    EXPECT_FALSE(this->queue.ack(lease.before));
    EXPECT_EQ(this->queue.claim_payload(), "none");
    EXPECT_TRUE(this->other().ack(lease.now));
    EXPECT_EQ(this->queue.claim_payload(), "e2");
}

TYPED_TEST(TransportLease, StaleNackIsNoop)
{
    const auto lease = this->take_over();
    EXPECT_FALSE(this->queue.nack(lease.before));
    this->queue.set_time(121);
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(121.001);
    EXPECT_EQ(this->queue.claim_payload(), "e1");
}

TYPED_TEST(TransportLease, StaleParkIsNoop)
{
    const auto lease = this->take_over(100);
    EXPECT_FALSE(this->queue.nack(lease.before, 1));
    this->queue.set_time(113);
    EXPECT_EQ(this->queue.claim_payload(), "none");
    EXPECT_TRUE(this->other().ack(lease.now));
}

TYPED_TEST(TransportLease, StaleExtendIsNoop)
{
    const auto lease = this->take_over();
    EXPECT_FALSE(this->queue.extend(lease.before, 1000));
    this->queue.set_time(121.001);
    EXPECT_EQ(this->queue.claim_payload(), "e1");
}

TYPED_TEST(TransportLease, StaleSameWorkerId)
{
    const auto lease = this->take_over(10, "w1");
    EXPECT_FALSE(this->queue.ack(lease.before));
    EXPECT_FALSE(this->queue.nack(lease.before));
    EXPECT_TRUE(this->other().ack(lease.now));
}

TYPED_TEST(TransportLease, LateAckNotReclaimed)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim(for_seconds(10)).value();
    this->queue.set_time(500);
    EXPECT_TRUE(this->queue.ack(claimed));
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportLease, LateNackNotReclaimed)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim(for_seconds(10)).value();
    this->queue.set_time(500);
    EXPECT_TRUE(this->queue.nack(claimed, 5));
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(505.001);
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportLease, DoubleAck)
{
    this->queue.publish("g", "e1");
    this->queue.publish("g", "e2");
    const auto claimed = this->queue.claim().value();
    EXPECT_TRUE(this->queue.ack(claimed));
    EXPECT_FALSE(this->queue.ack(claimed));
    EXPECT_THAT(this->queue.serve(2), ElementsAre("e2", "none"));
}

TYPED_TEST(TransportLease, AckAfterNack)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim().value();
    EXPECT_TRUE(this->queue.nack(claimed));
    EXPECT_FALSE(this->queue.ack(claimed));
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportLease, AckAfterPark)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim().value();
    EXPECT_TRUE(this->queue.nack(claimed, 5));
    EXPECT_FALSE(this->queue.ack(claimed));
    EXPECT_FALSE(this->queue.extend(claimed, 1000));
    this->queue.set_time(106);
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportLease, NackAfterAck)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim().value();
    EXPECT_TRUE(this->queue.ack(claimed));
    EXPECT_FALSE(this->queue.nack(claimed));
    EXPECT_FALSE(this->queue.nack(claimed, 5));
    this->queue.set_time(1000);
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportLease, UnknownLease)
{
    this->queue.publish("g", "m");
    const message_fence made_up(4711, "g", "w1#0");
    EXPECT_FALSE(this->queue.ack_fence(made_up));
    EXPECT_FALSE(this->queue.nack_fence(made_up));
    EXPECT_FALSE(this->queue.nack_fence(made_up, 5));
    EXPECT_FALSE(this->queue.ack_fence({}));
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportLease, UnclaimedMessageCannotBeFinished)
{
    this->queue.publish("g", "m");
    EXPECT_FALSE(this->queue.ack_fence({1, "g", ""}));
    EXPECT_FALSE(this->queue.ack_fence({1, "g", "w1"}));
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportLease, AckWrongGroup)
{
    this->queue.publish("g", "m");
    this->queue.publish("h", "m");
    const auto claimed = this->queue.claim().value();
    const message_fence& right = claimed.fence;
    EXPECT_FALSE(this->queue.ack_fence({right.seq(), "h", right.token()}));
    EXPECT_EQ(this->queue.claim().value().group, "h");
    EXPECT_TRUE(this->queue.ack(claimed));
}

TYPED_TEST(TransportLease, ExtendMovesItsEnd)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim(for_seconds(10)).value();
    this->queue.set_time(109);
    EXPECT_TRUE(this->queue.extend(claimed, 10));
    this->queue.set_time(119);
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(119.001);
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportLease, ExtendCanBringItsEndNearer)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim(for_seconds(1000)).value();
    EXPECT_TRUE(this->queue.extend(claimed, 1));
    this->queue.set_time(102);
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportLease, ExtendRevivesALapsedOneThatNobodyTook)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim(for_seconds(10)).value();
    this->queue.set_time(200);
    EXPECT_TRUE(this->queue.extend(claimed, 10));
    EXPECT_EQ(this->queue.claim_payload(), "none");
    EXPECT_TRUE(this->queue.ack(claimed));
}

TYPED_TEST(TransportLease, WallClockStepDoesNotFreeAHeldLeaseEarly)
{
    this->queue.publish("g", "m");
    this->queue.set_time(10'000);
    const auto claimed = this->queue.claim(for_seconds(30)).value();
    this->queue.set_wall(6'400);
    EXPECT_EQ(this->queue.claim_payload(), "none");
    EXPECT_TRUE(this->queue.ack(claimed));
}

TYPED_TEST(TransportLease, ReopenDurable)
{
    this->queue.publish("g", "e1");
    this->queue.publish("g", "e2");
    this->queue.reopen();
    EXPECT_THAT(this->queue.serve(3), ElementsAre("e1", "e2", "none"));
}

TYPED_TEST(TransportLease, LeaseSurvivesRestart)
{
    this->queue.publish("g", "m");
    this->queue.claim(for_seconds(10));
    this->queue.reopen();
    EXPECT_EQ(this->queue.claim_payload(), "none");
    this->queue.set_time(110.001);
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportLease, FenceSurvivesRestart)
{
    this->queue.publish("g", "m");
    auto& database = this->queue.database();
    auto claimed = database.run(this->queue.transport().try_claim());
    ASSERT_TRUE(claimed);
    const message_fence fence = claimed->detach();
    this->queue.reopen();
    EXPECT_TRUE(this->queue.ack_fence(fence));
    this->queue.set_time(1000);
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportLease, IsNewWithEveryClaim)
{
    this->queue.publish("g", "m");
    auto& database = this->queue.database();
    const auto fence = [&] {
        auto claimed = database.run(this->queue.transport().try_claim("same worker"));
        return claimed->detach();
    };
    const message_fence first = fence();
    EXPECT_TRUE(this->queue.nack_fence(first));
    const message_fence second = fence();
    EXPECT_EQ(first.seq(), second.seq());
    EXPECT_NE(first.token(), second.token());
    EXPECT_TRUE(first.token().starts_with("same worker#"));
}

} // namespace

} // namespace skein::conformance
