#include "observer/observer_fixture.hpp"

#include <array>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ObservedMessages : public support::observer_fixture {
protected:
    message claim_message() { return db_.run(transport_.claim("w")); }

    message claim_new_message()
    {
        db_.run(transport_.publish("g", "m"));
        message claimed = claim_message();
        static_cast<void>(take());
        return claimed;
    }

    skein::transport transport_ = db_.database().transport();
};

TEST_F(ObservedMessages, AreToldWhenTheyArePublished)
{
    const std::array<publication, 2> both{publication{"a", "1"}, publication{"b", "2"}};
    db_.run(transport_.publish_many(both));
    EXPECT_THAT(take_deeds(), ElementsAre("published harel/a", "published harel/b"));
    const auto odd = db_.database().transport({.prefix = "Odd"});
    transact([&](transaction& tx) {
        transport_.publish_many(tx, both);
        odd.publish(tx, "c", "3");
    });
    EXPECT_THAT(take_deeds(),
                ElementsAre("published harel/a", "published harel/b", "published odd/c"));
}

TEST_F(ObservedMessages, AreToldWhenTheyAreClaimedAndDone)
{
    db_.run(transport_.publish("g", "m"));
    static_cast<void>(take());
    message claimed = claim_message();
    EXPECT_THAT(take_deeds(), ElementsAre("claimed harel/g#1 by w"));
    db_.advance(250ms);
    EXPECT_TRUE(db_.run(claimed.ack()));
    EXPECT_THAT(take_deeds(), ElementsAre("acked harel/g#1 held 250 ms"));
}

TEST_F(ObservedMessages, AreToldWhenTheyAreDoneInATransactionOrByTheirFence)
{
    message first = claim_new_message();
    transact([&](transaction& tx) { EXPECT_TRUE(first.ack(tx)); });
    message second = claim_new_message();
    const message_fence fence = second.detach();
    EXPECT_TRUE(db_.run(transport_.ack(fence)));
    EXPECT_THAT(take_deeds(), ElementsAre("acked harel/g#2"));
    std::vector<message> third;
    third.push_back(claim_new_message());
    EXPECT_THAT(db_.run(transport_.ack_many(third)), ElementsAre(true));
    EXPECT_THAT(db_.run(transport_.ack_many(third)), ElementsAre(false));
    EXPECT_THAT(take_deeds(),
                ElementsAre("acked harel/g#3 held 0 ms", "lost harel/g#3 held 0 ms at ack"));
}

TEST_F(ObservedMessages, AreToldWhenTheyAreGivenBack)
{
    message claimed = claim_new_message();
    EXPECT_TRUE(db_.run(claimed.nack(2s)));
    EXPECT_THAT(take_deeds(), ElementsAre("nacked harel/g#1 held 0 ms for 2 s"));
    db_.advance(3s);
    {
        const message dropped = claim_message();
        static_cast<void>(take());
    }
    db_.settle();
    EXPECT_THAT(take_deeds(), ElementsAre("nacked harel/g#1 held 0 ms for 0 s"));
}

TEST_F(ObservedMessages, AreToldWhenAWorkerComesTooLate)
{
    message slow = claim_new_message();
    db_.advance(31s);
    message taken = claim_message();
    static_cast<void>(take());
    EXPECT_FALSE(db_.run(slow.extend(1s)));
    EXPECT_FALSE(db_.run(slow.nack()));
    EXPECT_TRUE(db_.run(taken.extend(1min)));
    EXPECT_THAT(take_deeds(), ElementsAre("lost harel/g#1 held 31000 ms at extend",
                                          "lost harel/g#1 held 31000 ms at nack"));
}

TEST_F(ObservedMessages, OfStreamsAndChannelsAreTold)
{
    const stream orders = db_.database().stream("orders");
    const std::array<new_event, 2> both{new_event{"k", "1"}, new_event{"k", "2"}};
    db_.run(orders.publish_many(both));
    db_.run(db_.database().notify("c", "1"));
    EXPECT_THAT(take_deeds(), ElementsAre("event orders@1", "event orders@2", "notification c@1"));
    transact([&](transaction& tx) {
        orders.publish(tx, "3");
        db_.database().notify(tx, "c", "2");
    });
    EXPECT_THAT(take_deeds(), ElementsAre("event orders@3", "notification c@2"));
}

} // namespace
