#include "support/plain_connection.hpp"
#include "transport/transports.hpp"

#include <skein/error.hpp>
#include <skein/transaction.hpp>

#include <stdexcept>

namespace skein::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class Harness>
class TransportRepair : public transport_suite<Harness> {
protected:
    repair_result repair() { return this->queue.database().run(this->queue.transport().repair()); }

    std::vector<std::string> sql(std::string_view statements)
    {
        return support::plain_connection(this->queue.database().path()).sql(statements);
    }

    /// What the first of two commits leaves.
    void orphan(const std::string& group, const std::string& event,
                const std::string& lock = "NULL, NULL")
    {
        sql("INSERT INTO harel_transport_messages (group_id, event, locked_by, lock_expiry)"
            " VALUES ('" +
            group + "', '" + event + "', " + lock + ")");
    }
};

TYPED_TEST_SUITE(TransportRepair, transports, transport_names);

TYPED_TEST(TransportRepair, RepairOrphans)
{
    this->queue.publish("g", "g1");
    this->orphan("o", "o1");
    this->orphan("o", "o2");
    EXPECT_THAT(this->queue.serve(2), ElementsAre("g1", "none"));
    const repair_result result = this->repair();
    EXPECT_EQ(result.orphans_healed, 1U);
    EXPECT_EQ(result.ghosts_removed, 0U);
    EXPECT_THAT(this->queue.serve(3), ElementsAre("o1", "o2", "none"));
}

TYPED_TEST(TransportRepair, GivesOrphansNoPriorityAndNoKey)
{
    this->queue.publish("g", "g1");
    this->orphan("o", "o1");
    this->repair();
    EXPECT_THAT(this->sql("SELECT last_claimed_at, priority, routing_key"
                          " FROM harel_transport_groups WHERE group_id = 'o'"),
                ElementsAre("0.0|0|NULL"));
}

TYPED_TEST(TransportRepair, ServesOrphansInTheOrderOfTheirFirstMessages)
{
    this->queue.publish("g", "g1");
    this->orphan("z", "z1");
    this->orphan("a", "a1");
    this->orphan("z", "z2");
    this->orphan("m", "m1");
    EXPECT_EQ(this->repair().orphans_healed, 3U);
    EXPECT_THAT(this->queue.serve(5), ElementsAre("g1", "z1", "a1", "m1", "z2"));
}

TYPED_TEST(TransportRepair, HonoursTheLeasesAndDelaysOfOrphans)
{
    this->queue.publish("g", "g1");
    this->orphan("leased", "l", "'host', 110");
    this->orphan("parked", "p", "'__parked__', 120");
    this->orphan("lapsed", "e", "'host', 90");
    EXPECT_EQ(this->repair().orphans_healed, 3U);
    EXPECT_THAT(this->queue.serve(3), ElementsAre("g1", "e", "none"));
    auto waiting = this->queue.start_claim();
    this->queue.set_time(110);
    EXPECT_FALSE(waiting.is_done());
    this->queue.set_time(110.001);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "l");
    this->queue.set_time(120.001);
    EXPECT_EQ(this->queue.claim().value().group, "parked");
}

TYPED_TEST(TransportRepair, RemovesGhosts)
{
    this->queue.publish("g", "g1");
    this->sql("INSERT INTO harel_transport_groups (group_id, priority, routing_key)"
              " VALUES ('ghost', 4, 'old key'), ('other', 0, NULL)");
    const repair_result result = this->repair();
    EXPECT_EQ(result.orphans_healed, 0U);
    EXPECT_EQ(result.ghosts_removed, 2U);
    EXPECT_THAT(this->sql("SELECT group_id FROM harel_transport_groups"), ElementsAre("g"));
    this->queue.publish("ghost", "new", 1);
    EXPECT_EQ(this->queue.claim_payload(at_least(2)), "none") << "the ghost had pinned a priority";
    EXPECT_EQ(this->queue.claim_payload(at_least(1)), "new");
}

TYPED_TEST(TransportRepair, FindsNothingToDoInAnEmptyOrSoundTransport)
{
    EXPECT_EQ(this->repair().orphans_healed, 0U);
    this->queue.publish("g", "g1", 2, "key");
    const auto claimed = this->queue.claim().value();
    const auto before = this->sql("SELECT * FROM harel_transport_groups");
    const repair_result result = this->repair();
    EXPECT_EQ(result.orphans_healed + result.ghosts_removed, 0U);
    EXPECT_EQ(this->sql("SELECT * FROM harel_transport_groups"), before);
    EXPECT_TRUE(this->queue.ack(claimed));
}

TYPED_TEST(TransportRepair, WakesWhoWaits)
{
    this->queue.publish("g", "g1");
    this->queue.serve(1);
    auto waiting = this->queue.start_claim();
    this->orphan("o", "o1");
    this->queue.set_time(101);
    EXPECT_FALSE(waiting.is_done());
    this->repair();
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "o1");
}

TYPED_TEST(TransportRepair, IsNeverDoneByItself)
{
    this->queue.publish("g", "g1");
    this->orphan("o", "o1");
    this->queue.serve(2);
    this->queue.reopen();
    this->queue.publish("g", "g2");
    EXPECT_THAT(this->queue.serve(2), ElementsAre("g2", "none"));
    EXPECT_THAT(this->sql("SELECT group_id FROM harel_transport_groups"), IsEmpty());
}

TYPED_TEST(TransportRepair, HappensWithItsTransactionOrNotAtAll)
{
    this->queue.publish("g", "g1");
    this->orphan("o", "o1");
    auto& database = this->queue.database();
    const auto taken_back = [this](transaction& tx) {
        EXPECT_EQ(this->queue.transport().repair(tx).orphans_healed, 1U);
        throw std::runtime_error("taken back");
    };
    EXPECT_THROW(database.run(database.database().transaction(taken_back)), std::runtime_error);
    EXPECT_THAT(this->sql("SELECT group_id FROM harel_transport_groups"), ElementsAre("g"));

    const auto work = [this](transaction& tx) {
        return this->queue.transport().repair(tx).orphans_healed;
    };
    EXPECT_EQ(database.run(database.database().transaction(work)), 1U);
    EXPECT_THAT(this->queue.serve(2), ElementsAre("g1", "o1"));
}

} // namespace

} // namespace skein::conformance
