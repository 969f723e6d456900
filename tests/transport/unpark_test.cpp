#include "support/plain_connection.hpp"
#include "transport/transports.hpp"

#include <skein/error.hpp>
#include <skein/transaction.hpp>

#include <stdexcept>

namespace skein::conformance {

namespace {

template <class Harness>
class TransportUnpark : public transport_suite<Harness> {
protected:
    bool unpark(std::string_view group)
    {
        return this->queue.database().run(this->queue.transport().unpark(group));
    }

    /// Parks the oldest message of the group whose turn it is.
    void park(double delay) { EXPECT_TRUE(this->queue.nack(this->queue.claim().value(), delay)); }

    std::vector<std::string> locks()
    {
        return support::plain_connection(this->queue.database().path())
            .sql("SELECT group_id, locked_by, lock_expiry FROM harel_transport_messages"
                 " ORDER BY seq");
    }
};

TYPED_TEST_SUITE(TransportUnpark, transports, transport_names);

TYPED_TEST(TransportUnpark, FreesAParkedGroupAtOnce)
{
    this->queue.publish("g", "g1");
    this->queue.publish("g", "g2");
    this->park(50);
    EXPECT_EQ(this->queue.claim_payload(), "none");
    EXPECT_TRUE(this->unpark("g"));
    EXPECT_THAT(this->locks(), ::testing::ElementsAre("g|NULL|NULL", "g|NULL|NULL"));
    EXPECT_THAT(this->queue.serve(3), ::testing::ElementsAre("g1", "g2", "none"));
}

TYPED_TEST(TransportUnpark, FreesNoOtherGroup)
{
    this->queue.publish("g", "g1");
    this->queue.publish("h", "h1");
    this->park(50);
    this->park(50);
    EXPECT_TRUE(this->unpark("h"));
    EXPECT_EQ(this->queue.claim_payload(), "h1");
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportUnpark, WakesWhoWaits)
{
    this->queue.publish("g", "g1");
    this->park(50);
    auto waiting = this->queue.start_claim();
    EXPECT_FALSE(waiting.is_done());
    EXPECT_TRUE(this->unpark("g"));
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "g1");
}

TYPED_TEST(TransportUnpark, KeepsTheGroupsPlaceInTheRotation)
{
    this->queue.publish("g", "g1");
    this->park(50);
    this->queue.publish("h", "h1");
    EXPECT_TRUE(this->unpark("g"));
    EXPECT_THAT(this->queue.serve(2), ::testing::ElementsAre("h1", "g1"));
}

TYPED_TEST(TransportUnpark, LeavesALeaseAlone)
{
    this->queue.publish("g", "g1");
    const auto claimed = this->queue.claim().value();
    const auto before = this->locks();
    EXPECT_FALSE(this->unpark("g"));
    EXPECT_EQ(this->locks(), before);
    EXPECT_TRUE(this->queue.ack(claimed));
}

TYPED_TEST(TransportUnpark, FindsNothingToDoInAFreeOrUnknownGroup)
{
    EXPECT_FALSE(this->unpark("g"));
    this->queue.publish("g", "g1");
    EXPECT_FALSE(this->unpark("g"));
    EXPECT_FALSE(this->unpark("G"));
    EXPECT_EQ(this->queue.claim_payload(), "g1");
}

TYPED_TEST(TransportUnpark, FindsNothingToDoOnceTheDelayIsOver)
{
    this->queue.publish("g", "g1");
    this->park(10);
    this->queue.set_time(110);
    EXPECT_TRUE(this->unpark("g")) << "at its very end a park still holds";
    this->park(10);
    this->queue.set_time(120.001);
    EXPECT_FALSE(this->unpark("g"));
    EXPECT_EQ(this->queue.claim_payload(), "g1");
}

TYPED_TEST(TransportUnpark, HappensWithItsTransactionOrNotAtAll)
{
    this->queue.publish("g", "g1");
    this->park(50);
    auto& database = this->queue.database();
    const auto taken_back = [this](transaction& tx) {
        EXPECT_TRUE(this->queue.transport().unpark(tx, "g"));
        throw std::runtime_error("taken back");
    };
    EXPECT_THROW(database.run(database.database().transaction(taken_back)), std::runtime_error);
    EXPECT_EQ(this->queue.claim_payload(), "none");

    auto waiting = this->queue.start_claim();
    const auto work = [this](transaction& tx) { return this->queue.transport().unpark(tx, "g"); };
    EXPECT_TRUE(database.run(database.database().transaction(work)));
    EXPECT_TRUE(waiting.is_done());
}

TYPED_TEST(TransportUnpark, RefusesATransactionOfAnotherDatabase)
{
    support::manual_database elsewhere;
    const auto work = [this](transaction& tx) { return this->queue.transport().unpark(tx, "g"); };
    auto refused = elsewhere.start(elsewhere.database().transaction(work));
    elsewhere.settle();
    EXPECT_EQ(refused.error(), make_error_code(errc::invalid_argument));
}

} // namespace

} // namespace skein::conformance
