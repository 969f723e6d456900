#include "transport/transports.hpp"

#include <skein/error.hpp>

namespace skein::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <class Harness>
class TransportBatches : public transport_suite<Harness> {
protected:
    void publish_three_groups()
    {
        const std::vector<publication> all{
            {"a", "a1"}, {"b", "b1"}, {"a", "a2"}, {"c", "c1"}, {"b", "b2"}};
        this->queue.database().run(this->queue.transport().publish_many(all));
    }

    std::vector<message> claim_many(std::size_t most)
    {
        return this->queue.database().run(this->queue.transport().try_claim_many(most));
    }

    template <class Function>
    static void expect_refused(Function&& function, const char* text)
    {
        try {
            function();
            ADD_FAILURE() << "not refused: " << text;
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::invalid_argument));
            EXPECT_THAT(refused.what(), HasSubstr(text));
        }
    }
};

TYPED_TEST_SUITE(TransportBatches, transports, transport_names);

TYPED_TEST(TransportBatches, ArePublishedInTheirOrder)
{
    this->publish_three_groups();
    EXPECT_THAT(this->queue.serve(6), ElementsAre("a1", "b1", "c1", "a2", "b2", "none"));
}

TYPED_TEST(TransportBatches, CarryPrioritiesAndKeys)
{
    const std::vector<publication> all{{"low", "low", {.priority = 1}},
                                       {"high", "high", {.priority = 3, .routing_key = "x"}}};
    this->queue.database().run(this->queue.transport().publish_many(all));
    EXPECT_EQ(this->queue.claim_payload(at_least(2)), "high");
    EXPECT_EQ(this->queue.claim_payload(of_keys({"x"})), "none");
    EXPECT_EQ(this->queue.claim_payload(), "low");
}

TYPED_TEST(TransportBatches, AreOwnedFromTheCallOn)
{
    asio::awaitable<void> publishing;
    {
        const std::string group(100, 'g');
        const std::string payload(100, 'p');
        const publication one{group, payload};
        publishing = this->queue.transport().publish_many({&one, 1});
    }
    this->queue.database().run(std::move(publishing));
    EXPECT_EQ(this->queue.claim_payload(), std::string(100, 'p'));
}

TYPED_TEST(TransportBatches, MayBeEmpty)
{
    this->queue.database().run(this->queue.transport().publish_many({}));
    EXPECT_THAT(this->queue.database().run(this->queue.transport().ack_many({})), IsEmpty());
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportBatches, AreRefusedWhole)
{
    const std::vector<publication> all{{"a", "a"}, {"b", "b", {.priority = 5}}};
    this->expect_refused([&] { (void)this->queue.transport().publish_many(all); }, "priority: 5");
    EXPECT_EQ(this->queue.claim_payload(), "none");
}

TYPED_TEST(TransportBatches, OfAClaimAreTheHeadsOfAsManyGroups)
{
    this->publish_three_groups();
    EXPECT_THAT(this->queue.claim_payloads(2), ElementsAre("a1", "b1"));
    EXPECT_THAT(this->queue.claim_payloads(1000), ElementsAre("c1"));
    EXPECT_THAT(this->queue.claim_payloads(1000), IsEmpty());
}

TYPED_TEST(TransportBatches, OfAClaimGoByTheSameFilterAndTurns)
{
    this->queue.publish("a", "a", 0, "x");
    this->queue.publish("b", "b", 2, "x");
    this->queue.publish("c", "c", 3, "y");
    this->queue.publish("d", "d", 4, "x");
    EXPECT_THAT(this->queue.claim_payloads(9, of_keys({"x"}, 1)), ElementsAre("b", "d"));
    EXPECT_THAT(this->queue.claim_payloads(9), ElementsAre("a", "c"));
}

TYPED_TEST(TransportBatches, OfAClaimLapseAndComeAgain)
{
    this->publish_three_groups();
    this->queue.claim_payloads(3, for_seconds(10));
    this->queue.set_time(110.5);
    EXPECT_THAT(this->queue.claim_payloads(9), ElementsAre("a1", "b1", "c1"));
}

TYPED_TEST(TransportBatches, OfAWaitingClaimAreWhatIsThereFirst)
{
    auto waiting = this->queue.database().start(this->queue.transport().claim_many(10));
    this->queue.database().settle();
    EXPECT_FALSE(waiting.is_done());
    this->publish_three_groups();
    EXPECT_THAT(waiting.result(), SizeIs(3));
}

TYPED_TEST(TransportBatches, OfAClaimWithALimitAreNoneWhenItHasPassed)
{
    auto waiting = this->queue.database().start(
        this->queue.transport().claim_many_within(std::chrono::seconds{5}, 10));
    this->queue.database().settle();
    this->queue.set_time(105);
    EXPECT_THAT(waiting.result(), IsEmpty());
}

TYPED_TEST(TransportBatches, AreSharedByTheClaimsThatWaitTogether)
{
    auto first = this->queue.database().start(this->queue.transport().claim_many(2));
    auto second = this->queue.start_claim();
    auto third = this->queue.database().start(this->queue.transport().claim_many(2));
    this->publish_three_groups();
    const std::vector<message> of_first = first.result();
    EXPECT_THAT(of_first, SizeIs(2));
    EXPECT_TRUE(second.is_done());
    EXPECT_FALSE(third.is_done());
    this->queue.publish("d", "d1");
    EXPECT_THAT(third.result(), SizeIs(1));
}

TYPED_TEST(TransportBatches, OfAClaimHoldOneToAThousand)
{
    for (const std::size_t most : {std::size_t{0}, std::size_t{1001}}) {
        this->expect_refused([&] { (void)this->queue.transport().try_claim_many(most); }, "most: ");
    }
}

TYPED_TEST(TransportBatches, AreAcknowledgedTogether)
{
    this->publish_three_groups();
    const std::vector<message> claimed = this->claim_many(3);
    EXPECT_THAT(this->queue.database().run(this->queue.transport().ack_many(claimed)),
                ElementsAre(true, true, true));
    EXPECT_THAT(this->queue.database().run(this->queue.transport().ack_many(claimed)),
                ElementsAre(false, false, false));
    EXPECT_THAT(this->queue.serve(3), ElementsAre("a2", "b2", "none"));
}

TYPED_TEST(TransportBatches, TellWhichLeasesWereStale)
{
    this->publish_three_groups();
    std::vector<message> claimed = this->claim_many(3);
    EXPECT_TRUE(this->queue.database().run(claimed[1].nack(std::chrono::seconds{50})));
    EXPECT_THAT(this->queue.database().run(this->queue.transport().ack_many(claimed)),
                ElementsAre(true, false, true));
}

TYPED_TEST(TransportBatches, ThatWereAcknowledgedAreNotGivenBack)
{
    this->publish_three_groups();
    {
        const std::vector<message> claimed = this->claim_many(3);
        this->queue.database().run(this->queue.transport().ack_many(claimed));
    }
    this->queue.database().settle();
    EXPECT_THAT(this->queue.claim_payloads(9), ElementsAre("a2", "b2"));
}

TYPED_TEST(TransportBatches, ThatAreDroppedAreGivenBack)
{
    this->publish_three_groups();
    this->claim_many(3);
    this->queue.database().settle();
    EXPECT_THAT(this->queue.claim_payloads(9), ElementsAre("a1", "b1", "c1"));
}

TYPED_TEST(TransportBatches, OfAnAckAreMessagesOfOneDatabase)
{
    this->publish_three_groups();
    std::vector<message> claimed = this->claim_many(2);
    this->expect_refused([&] { (void)this->other().transport().ack_many(claimed); },
                         "element 0 is of another database");
    const message taken = std::move(claimed[1]);
    this->expect_refused([&] { (void)this->queue.transport().ack_many(claimed); },
                         "element 1 is empty");
}

TYPED_TEST(TransportBatches, TakePartInATransaction)
{
    this->publish_three_groups();
    const std::vector<message> claimed = this->claim_many(2);
    const std::vector<publication> more{{"d", "d1"}, {"e", "e1"}};
    auto work = [&](transaction& tx) {
        this->queue.transport().publish_many(tx, more);
        return this->queue.transport().ack_many(tx, claimed);
    };
    EXPECT_THAT(this->queue.database().run(this->queue.database().database().transaction(work)),
                ElementsAre(true, true));
    EXPECT_THAT(this->queue.serve(6), ElementsAre("c1", "d1", "e1", "a2", "b2", "none"));
}

TYPED_TEST(TransportBatches, AreUndoneWithTheirTransaction)
{
    this->publish_three_groups();
    {
        const std::vector<message> claimed = this->claim_many(2);
        auto work = [&](transaction& tx) {
            EXPECT_THAT(this->queue.transport().ack_many(tx, claimed), ElementsAre(true, true));
            throw std::runtime_error("undo");
        };
        EXPECT_THROW(
            this->queue.database().run(this->queue.database().database().transaction(work)),
            std::runtime_error);
    }
    this->queue.database().settle();
    EXPECT_THAT(this->queue.claim_payloads(9), ElementsAre("c1", "a1", "b1"));
}

TYPED_TEST(TransportBatches, DrainRefillFair)
{
    for (const bool is_fair : {false, true}) {
        this->queue.publish("old", "old");
        this->queue.publish("old", "old");
        this->queue.publish("chat", "chat");
        if (is_fair) {
            this->queue.take_fair_turns();
        }
        std::vector<std::string> order;
        for (int turn = 0; turn < 4; ++turn) {
            const std::string served = this->queue.serve(1).front();
            order.push_back(served);
            this->queue.publish(served, served);
        }
        EXPECT_THAT(order, is_fair ? ElementsAre("old", "chat", "old", "chat")
                                   : ElementsAre("old", "chat", "chat", "chat"));
        this->queue.serve(4);
    }
}

} // namespace

} // namespace skein::conformance
