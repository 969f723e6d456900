#include "store/older_program.hpp"
#include "store/store_client.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using skein::support::plain_connection;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> payloads(const std::vector<claimed_message>& claimed)
{
    std::vector<std::string> all;
    for (const claimed_message& each : claimed) {
        all.push_back(each.payload);
    }
    return all;
}

/// Everything holds on a file with our additions and on one whose schema somebody else owns.
class TransportStore : public testing::TestWithParam<transport_shape> {
protected:
    static schema_owner prepare(const std::filesystem::path& path)
    {
        if (GetParam() == transport_shape::complete) {
            return schema_owner::skein;
        }
        create_format(plain_connection(path), format_version::keys);
        return schema_owner::somebody_else;
    }

    TransportStore() : client_(path_, prepare(path_)), other_(path_, schema_owner::somebody_else)
    {
        EXPECT_EQ(client_.shape(), GetParam());
    }

    std::vector<std::string> messages() const
    {
        return client_.file().sql("SELECT group_id, event, locked_by, lock_expiry"
                                  " FROM harel_transport_messages ORDER BY seq");
    }

    std::vector<std::string> groups() const
    {
        return client_.file().sql("SELECT group_id FROM harel_transport_groups ORDER BY rowid");
    }

    /// Claims and acknowledges `count` messages, all at the same time by the clock.
    std::vector<std::string> serve(int count, double now, const claim_filter& filter = {})
    {
        std::vector<std::string> served;
        for (int each = 0; each < count; ++each) {
            const auto claimed = client_.claim(now, filter);
            served.push_back(claimed ? claimed->payload : "none");
            if (claimed) {
                EXPECT_TRUE(client_.ack(claimed->fence));
            }
        }
        return served;
    }

    skein::support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    store_client client_;
    store_client other_;
};

TEST_P(TransportStore, DeliversAGroupInTheOrderOfPublishing)
{
    client_.publish("g", "1");
    client_.publish("g", "2");
    client_.publish("g", "3");
    EXPECT_THAT(serve(4, 100), ElementsAre("1", "2", "3", "none"));
}

TEST_P(TransportStore, HasOneMessageOfAGroupInFlight)
{
    client_.publish("g", "g1");
    client_.publish("g", "g2");
    client_.publish("h", "h1");
    const auto first = client_.claim(100).value();
    EXPECT_EQ(first.payload, "g1");
    EXPECT_EQ(other_.claim_payload(100), "h1");
    EXPECT_EQ(other_.claim_payload(100), "none");
    EXPECT_TRUE(client_.ack(first.fence));
    EXPECT_EQ(other_.claim_payload(100), "g2");
}

TEST_P(TransportStore, TellsTheLeaseOfAClaim)
{
    client_.publish("g", "m");
    const auto claimed = client_.claim(100.25, {}, 7.5).value();
    EXPECT_EQ(claimed.fence.seq, 1);
    EXPECT_EQ(claimed.fence.group_id, "g");
    EXPECT_EQ(claimed.expires_at, 107.75);
    EXPECT_THAT(messages(), ElementsAre("g|m|" + claimed.fence.locked_by + "|107.75"));
}

TEST_P(TransportStore, HoldsALeaseUpToAndWithItsLastMoment)
{
    client_.publish("g", "m");
    client_.claim(100, {}, 10);
    EXPECT_FALSE(other_.has_work(110));
    EXPECT_EQ(other_.claim_payload(110), "none");
    EXPECT_TRUE(other_.has_work(110.000001));
    EXPECT_EQ(other_.claim_payload(110.000001), "m");
}

TEST_P(TransportStore, LetsALeaseOfNoLengthLapseAtTheNextMoment)
{
    client_.publish("g", "m");
    client_.claim(100, {}, 0);
    EXPECT_EQ(other_.claim_payload(100), "none");
    EXPECT_EQ(other_.claim_payload(100.001), "m");
}

TEST_P(TransportStore, DropsTheRowOfADrainedGroup)
{
    client_.publish("g", "1");
    client_.publish("g", "2");
    serve(1, 100);
    EXPECT_THAT(groups(), ElementsAre("g"));
    serve(1, 100);
    EXPECT_THAT(groups(), IsEmpty());
    EXPECT_THAT(messages(), IsEmpty());
}

TEST_P(TransportStore, GivesAReleasedMessageOutAgain)
{
    client_.publish("g", "1");
    client_.publish("g", "2");
    const auto claimed = client_.claim(100).value();
    EXPECT_TRUE(client_.release(claimed.fence));
    EXPECT_THAT(messages(), ElementsAre("g|1|NULL|NULL", "g|2|NULL|NULL"));
    EXPECT_EQ(other_.claim_payload(100), "1");
}

TEST_P(TransportStore, PutsAReleasedGroupBehindThoseNotServedSince)
{
    client_.publish("g", "g1");
    const auto claimed = client_.claim(100).value();
    client_.publish("h", "h1");
    client_.release(claimed.fence);
    EXPECT_EQ(client_.claim_payload(101), "h1");
}

TEST_P(TransportStore, BlocksTheWholeGroupOfAParkedMessage)
{
    client_.publish("g", "1");
    client_.publish("h", "h1");
    const auto claimed = client_.claim(100).value();
    EXPECT_TRUE(client_.park(claimed.fence, 150));
    client_.publish("g", "2");
    EXPECT_EQ(messages().front(), "g|1|__parked__|150.0");
    EXPECT_EQ(other_.claim_payload(100, {}, 1000), "h1");
    EXPECT_EQ(other_.claim_payload(150), "none");
    EXPECT_EQ(other_.claim_payload(150.5), "1");
}

TEST_P(TransportStore, MovesTheEndOfALeaseAndKeepsItsFence)
{
    client_.publish("g", "m");
    const auto claimed = client_.claim(100, {}, 10).value();
    EXPECT_TRUE(client_.extend(claimed.fence, 130));
    EXPECT_EQ(other_.claim_payload(120), "none");
    EXPECT_TRUE(client_.extend(claimed.fence, 121));
    EXPECT_EQ(other_.claim_payload(121), "none");
    EXPECT_TRUE(client_.ack(claimed.fence));
    EXPECT_EQ(other_.claim_payload(200), "none");
}

TEST_P(TransportStore, RevivesALapsedLeaseThatNobodyTook)
{
    client_.publish("g", "m");
    client_.publish("h", "h1");
    const auto claimed = client_.claim(100, {}, 10).value();
    EXPECT_EQ(other_.claim_payload(120), "h1") << "this claim has noted that g's lease lapsed";
    EXPECT_TRUE(client_.extend(claimed.fence, 130));
    EXPECT_EQ(other_.claim_payload(125), "none");
    EXPECT_EQ(other_.claim_payload(130.5), "m");
}

TEST_P(TransportStore, TakesALateAckWhenNobodyTookTheMessage)
{
    client_.publish("g", "m");
    const auto claimed = client_.claim(100, {}, 10).value();
    EXPECT_TRUE(client_.ack(claimed.fence));
    EXPECT_THAT(messages(), IsEmpty());
}

TEST_P(TransportStore, RefusesEveryUseOfALeaseThatWasTakenOver)
{
    client_.publish("g", "1");
    client_.publish("g", "2");
    const auto first = client_.claim(100, {}, 10).value();
    const auto second = other_.claim(111, {}, 100).value();
    ASSERT_NE(first.fence.locked_by, "");
    ASSERT_EQ(second.payload, "1");
    const message_fence stale{first.fence.seq, "g", "an earlier token"};
    const auto before = messages();

    EXPECT_FALSE(client_.ack(stale));
    EXPECT_FALSE(client_.release(stale));
    EXPECT_FALSE(client_.park(stale, 112));
    EXPECT_FALSE(client_.extend(stale, 500));

    EXPECT_EQ(messages(), before);
    EXPECT_EQ(client_.claim_payload(113), "none");
    EXPECT_TRUE(other_.ack(second.fence));
}

TEST_P(TransportStore, TellsTwoClaimsOfOneWorkerApart)
{
    client_.publish("g", "m");
    const auto first = client_.claim(100, {}, 10).value();
    const auto second = client_.claim(111, {}, 10).value();
    EXPECT_FALSE(client_.ack(first.fence));
    EXPECT_TRUE(client_.ack(second.fence));
}

TEST_P(TransportStore, EndsALeaseWithItsFirstSettlement)
{
    client_.publish("g", "1");
    const auto acked = client_.claim(100).value();
    EXPECT_TRUE(client_.ack(acked.fence));
    EXPECT_FALSE(client_.ack(acked.fence));
    EXPECT_FALSE(client_.release(acked.fence));

    client_.publish("g", "2");
    const auto released = client_.claim(100).value();
    EXPECT_TRUE(client_.release(released.fence));
    EXPECT_FALSE(client_.ack(released.fence));
    EXPECT_FALSE(client_.extend(released.fence, 500));

    const auto parked = client_.claim(100).value();
    EXPECT_TRUE(client_.park(parked.fence, 110));
    EXPECT_FALSE(client_.ack(parked.fence));
    EXPECT_FALSE(client_.park(parked.fence, 500));
    EXPECT_THAT(messages(), ElementsAre("g|2|__parked__|110.0"));
}

TEST_P(TransportStore, RefusesAFenceWithOneWrongPart)
{
    client_.publish("g", "m");
    client_.publish("h", "m");
    const auto claimed = client_.claim(100).value();
    const auto before = messages();
    message_fence wrong = claimed.fence;
    wrong.seq = 2;
    EXPECT_FALSE(client_.ack(wrong));
    wrong = claimed.fence;
    wrong.group_id = "h";
    EXPECT_FALSE(client_.ack(wrong));
    wrong = claimed.fence;
    wrong.locked_by += "x";
    EXPECT_FALSE(client_.ack(wrong));
    EXPECT_EQ(messages(), before);
    EXPECT_THAT(groups(), ElementsAre("g", "h"));
}

TEST_P(TransportStore, ServesTheLeastRecentlyClaimedGroupFirst)
{
    for (const char* each : {"a1", "a2", "a3"}) {
        client_.publish("a", each);
    }
    client_.publish("b", "b1");
    EXPECT_THAT(serve(1, 101), ElementsAre("a1"));
    EXPECT_THAT(serve(1, 103), ElementsAre("b1"));
    client_.publish("c", "c1");
    EXPECT_THAT(serve(3, 104), ElementsAre("c1", "a2", "a3"));
}

TEST_P(TransportStore, ServesGroupsThatWereNeverClaimedInTheOrderOfArrival)
{
    for (const char* each : {"c", "a", "b"}) {
        client_.publish(each, each);
    }
    EXPECT_THAT(serve(3, 100), ElementsAre("c", "a", "b"));
}

TEST_P(TransportStore, AlternatesWhileTheClockStandsStill)
{
    for (const char* each : {"0", "1", "2", "3"}) {
        client_.publish("a", "a" + std::string(each));
        client_.publish("b", "b" + std::string(each));
    }
    EXPECT_THAT(serve(8, 100), ElementsAre("a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"));
}

TEST_P(TransportStore, AlternatesAfterTheClockHasSteppedBack)
{
    for (const char* each : {"0", "1", "2"}) {
        client_.publish("a", "a" + std::string(each));
        client_.publish("b", "b" + std::string(each));
    }
    EXPECT_THAT(serve(1, 10'000), ElementsAre("a0"));
    EXPECT_THAT(serve(5, 6'400), ElementsAre("b0", "a1", "b1", "a2", "b2"));
}

TEST_P(TransportStore, DoesNotLetStampsRunAheadOfTheClock)
{
    for (int each = 0; each < 50; ++each) {
        client_.publish("a", "a");
        client_.publish("b", "b");
    }
    serve(98, 100);
    const double stamp =
        std::stod(client_.file().value("SELECT max(last_claimed_at) FROM harel_transport_groups"));
    EXPECT_LT(stamp, 100.000001);
    EXPECT_EQ(client_.claim_payload(100.5), "a");
    EXPECT_EQ(client_.file().value("SELECT max(last_claimed_at) FROM harel_transport_groups"),
              "100.5");
}

TEST_P(TransportStore, DoesNotMoveLeaseEndsWithTheStamps)
{
    client_.publish("a", "a1");
    client_.publish("b", "b1");
    client_.claim(10'000);
    const auto claimed = client_.claim(6'400, {}, 10).value();
    EXPECT_EQ(claimed.expires_at, 6'410);
    EXPECT_EQ(other_.claim_payload(6'410.5), "b1");
}

TEST_P(TransportStore, LeavesGroupsUnderTheFloorAlone)
{
    client_.publish("low", "low");
    client_.publish("high", "high", 2);
    EXPECT_THAT(serve(2, 100, at_least(2)), ElementsAre("high", "none"));
    EXPECT_FALSE(client_.has_work(100, at_least(1)));
    EXPECT_TRUE(client_.has_work(100));
    EXPECT_THAT(serve(1, 100), ElementsAre("low"));
}

TEST_P(TransportStore, TakesThePriorityAsAFloorAndNotAsAnOrder)
{
    client_.publish("low", "low", 0);
    client_.publish("high", "high", 4);
    client_.publish("middle", "middle", 2);
    EXPECT_THAT(serve(3, 100), ElementsAre("low", "high", "middle"));
}

TEST_P(TransportStore, KeepsThePriorityAndTheKeyOfAGroupUntilItDrains)
{
    client_.publish("g", "1", 0, "a");
    client_.publish("g", "2", 4, "b");
    EXPECT_EQ(client_.claim_payload(100, at_least(1)), "none");
    EXPECT_EQ(client_.claim_payload(100, of_keys({"b"})), "none");
    serve(1, 100);
    EXPECT_EQ(client_.claim_payload(100, of_keys({"b"})), "none");
    serve(1, 100);
    client_.publish("g", "3", 2, "b");
    EXPECT_EQ(client_.claim_payload(100, of_keys({"b"}, 2)), "3");
}

TEST_P(TransportStore, ClaimsEveryPriorityThatOtherProgramsWriteButNegativeOnes)
{
    older_program older(path_);
    older.publish("above", "above", 99);
    older.publish("below", "below", -1);
    EXPECT_FALSE(client_.has_work(100, of_keys({"a"})));
    EXPECT_EQ(client_.claim_payload(100, at_least(4)), "above");
    EXPECT_EQ(client_.claim_payload(100), "none");
    EXPECT_FALSE(client_.has_work(100));
    EXPECT_EQ(client_.claim_payload(131), "above");
}

TEST_P(TransportStore, ClaimsOnlyGroupsOfTheKeysAskedFor)
{
    client_.publish("g", "g1", 0, "a");
    client_.publish("h", "h1", 0, "b");
    client_.publish("none", "n1");
    EXPECT_FALSE(client_.has_work(100, of_keys({"c"})));
    EXPECT_EQ(client_.claim_payload(100, of_keys({"c"})), "none");
    EXPECT_EQ(client_.claim_payload(100, of_keys({"b"})), "h1");
    EXPECT_EQ(client_.claim_payload(100, of_keys({"b"})), "none");
    EXPECT_EQ(client_.claim_payload(100), "g1");
    EXPECT_EQ(client_.claim_payload(100), "n1");
}

TEST_P(TransportStore, MatchesNothingWithAnEmptyListOfKeys)
{
    client_.publish("g", "g1", 0, "a");
    client_.publish("h", "h1");
    EXPECT_FALSE(client_.has_work(100, of_keys({})));
    EXPECT_EQ(client_.claim_payload(100, of_keys({})), "none");
}

TEST_P(TransportStore, IsFairAcrossTheKeysAskedFor)
{
    for (const char* each : {"1", "2", "3"}) {
        client_.publish("a", "a" + std::string(each), 0, "x");
        client_.publish("b", "b" + std::string(each), 0, "y");
        client_.publish("c", "c" + std::string(each), 0, "z");
    }
    EXPECT_THAT(serve(7, 100, of_keys({"y", "x", "y"})),
                ElementsAre("a1", "b1", "a2", "b2", "a3", "b3", "none"));
}

TEST_P(TransportStore, AppliesFloorAndKeysTogether)
{
    client_.publish("a", "a", 0, "x");
    client_.publish("b", "b", 3, "y");
    client_.publish("c", "c", 1, "x");
    client_.publish("d", "d", 3, "x");
    EXPECT_THAT(serve(4, 100, of_keys({"x"}, 1)), ElementsAre("c", "d", "none", "none"));
    EXPECT_THAT(serve(2, 100, of_keys({"x", "y"}, 3)), ElementsAre("b", "none"));
}

TEST_P(TransportStore, TellsAnEmptyKeyFromNoKey)
{
    client_.publish("empty", "empty", 0, "");
    client_.publish("none", "none");
    EXPECT_THAT(serve(2, 100, of_keys({""})), ElementsAre("empty", "none"));
    EXPECT_THAT(groups(), ElementsAre("none"));
}

TEST_P(TransportStore, RemovesTheRowOfAGroupWithoutMessages)
{
    older_program older(path_);
    older.publish_group("ghost", 4);
    client_.publish("g", "m");
    EXPECT_EQ(client_.claim_payload(100), "m");
    EXPECT_THAT(groups(), ElementsAre("g"));
}

TEST_P(TransportStore, RemovesManyGhostsInOneClaim)
{
    client_.file().sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000)"
                       " INSERT INTO harel_transport_groups (group_id) SELECT 'ghost' || i FROM n");
    client_.publish("g", "m");
    EXPECT_EQ(client_.claim_payload(100), "m");
    EXPECT_THAT(groups(), ElementsAre("g"));
}

TEST_P(TransportStore, DeliversToAGroupWhoseGhostWasRemoved)
{
    older_program older(path_);
    older.publish_group("g", 0);
    EXPECT_EQ(client_.claim_payload(100), "none");
    older.publish("g", "m", 3);
    EXPECT_EQ(client_.claim_payload(100, at_least(3)), "m");
}

TEST_P(TransportStore, LeavesAMessageWithoutItsGroupAloneUntilTheGroupIsThere)
{
    older_program older(path_);
    older.publish_message("g", "m");
    EXPECT_EQ(client_.claim_payload(100), "none");
    EXPECT_EQ(messages().size(), 1U);
    older.publish_group("g");
    EXPECT_EQ(client_.claim_payload(100), "m");
}

TEST_P(TransportStore, DeliversThePayloadByteForByte)
{
    const std::vector<std::string> payloads{
        "",
        std::string("a\0b\0", 4),
        "gr\xc3\xbc\xc3\x9f \xf0\x9f\xaa\xbf",
        "not UTF-8: \xff\xfe\xc3",
        "{\"not\": \"closed\"",
        "'; DROP TABLE harel_transport_messages; --",
        std::string(1'000'000, 'x'),
    };
    for (const std::string& each : payloads) {
        client_.publish("g", each);
    }
    for (const std::string& each : payloads) {
        const auto claimed = other_.claim(100);
        ASSERT_TRUE(claimed);
        EXPECT_EQ(claimed->payload, each);
        EXPECT_TRUE(other_.ack(claimed->fence));
    }
}

TEST_P(TransportStore, TakesAnyTextAsGroupAndKey)
{
    const std::vector<std::string> names{"",
                                         std::string("a\0b", 3),
                                         std::string("a\0c", 3),
                                         "a",
                                         "A",
                                         "gr\xc3\xbc\xc3\x9f",
                                         "'\"%_;",
                                         "\xff\xfe",
                                         std::string(10'000, 'x')};
    for (const std::string& each : names) {
        client_.publish(each, each, 0, each);
        client_.publish(each, "second", 0, each);
    }
    for (const std::string& each : names) {
        const auto claimed = client_.claim(100, of_keys({each}));
        ASSERT_TRUE(claimed);
        EXPECT_EQ(claimed->payload, each);
        EXPECT_EQ(claimed->fence.group_id, each);
        EXPECT_FALSE(client_.claim(100, of_keys({each})));
        EXPECT_TRUE(client_.ack(claimed->fence));
        EXPECT_EQ(client_.claim_payload(100, of_keys({each})), "second");
    }
}

TEST_P(TransportStore, KnowsWhenTheNextLeaseOrParkEnds)
{
    EXPECT_EQ(client_.next_lapse(100), std::nullopt);
    client_.publish("a", "a");
    client_.publish("b", "b");
    client_.publish("c", "c");
    EXPECT_EQ(client_.next_lapse(100), std::nullopt);
    const auto parked = client_.claim(100).value();
    client_.park(parked.fence, 105);
    const auto leased = client_.claim(100, {}, 10).value();
    EXPECT_EQ(client_.next_lapse(100), 105);
    EXPECT_EQ(client_.next_lapse(105), 105);
    EXPECT_EQ(client_.next_lapse(105.5), 110);
    EXPECT_EQ(client_.next_lapse(110.5), std::nullopt);
    EXPECT_TRUE(client_.extend(leased.fence, 104));
    EXPECT_EQ(client_.next_lapse(100), 104);
    EXPECT_TRUE(client_.ack(leased.fence));
    EXPECT_EQ(client_.next_lapse(100), 105);
}

TEST_P(TransportStore, ReadsOnlyWhenItLooksForWork)
{
    client_.publish("g", "m");
    client_.claim(100, {}, 10);
    client_.file().sql("PRAGMA query_only = on");
    EXPECT_FALSE(client_.has_work(105));
    EXPECT_TRUE(client_.has_work(111));
    EXPECT_EQ(client_.next_lapse(105), 110);
    EXPECT_ANY_THROW(client_.claim(111));
}

TEST_P(TransportStore, FindsAGroupBehindAnyNumberOfOthersWhoseLeasesLapsed)
{
    constexpr int others = 500;
    for (int each = 0; each < others; ++each) {
        client_.publish("other" + std::to_string(each), "other", 0, "x");
        client_.claim(100, {}, 10);
    }
    client_.publish("mine", "mine", 3, "y");
    client_.claim(101, {}, 10);
    EXPECT_TRUE(client_.has_work(120, of_keys({"y"})));
    EXPECT_EQ(client_.claim_payload(120, of_keys({"y"})), "mine");
}

TEST_P(TransportStore, FindsAGroupAboveTheFloorBehindOthersWhoseLeasesLapsed)
{
    constexpr int others = 500;
    for (int each = 0; each < others; ++each) {
        client_.publish("other" + std::to_string(each), "other");
        client_.claim(100, {}, 10);
    }
    client_.publish("mine", "mine", 3);
    client_.claim(101, {}, 10);
    EXPECT_EQ(client_.claim_payload(120, at_least(3)), "mine");
}

TEST_P(TransportStore, ClaimsTheHeadsOfAsManyGroupsAsAreWanted)
{
    for (const char* const group : {"a", "b", "c"}) {
        client_.publish(group, group + std::string("1"));
        client_.publish(group, group + std::string("2"));
    }
    EXPECT_THAT(payloads(client_.claim_many(2, 100)), ElementsAre("a1", "b1"));
    EXPECT_THAT(payloads(client_.claim_many(5, 100)), ElementsAre("c1"));
    EXPECT_THAT(client_.claim_many(5, 100), IsEmpty());
}

TEST_P(TransportStore, ClaimsOfOneCallRotateLikeClaimsOfMany)
{
    for (const char* const group : {"a", "b", "c"}) {
        client_.publish(group, group + std::string("1"));
        client_.publish(group, group + std::string("2"));
    }
    for (const claimed_message& each : client_.claim_many(3, 100)) {
        client_.release(each.fence);
    }
    EXPECT_EQ(client_.claim_payload(100), "a1");
    EXPECT_THAT(payloads(client_.claim_many(2, 100)), ElementsAre("b1", "c1"));
}

TEST_P(TransportStore, ClaimsOfOneCallHaveFencesAndLeasesOfTheirOwn)
{
    client_.publish("a", "a");
    client_.publish("b", "b");
    const std::vector<claim_request> requests{{"w#1", 10}, {"w#2", 20}};
    client_.file().sql("BEGIN IMMEDIATE");
    const auto claimed = client_.get().claim({}, requests, 100).messages;
    client_.file().sql("COMMIT");
    ASSERT_THAT(claimed, SizeIs(2));
    EXPECT_EQ(claimed[0].expires_at, 110);
    EXPECT_EQ(claimed[1].expires_at, 120);
    EXPECT_THAT(messages(), ElementsAre("a|a|w#1|110.0", "b|b|w#2|120.0"));
    EXPECT_TRUE(client_.ack(claimed[1].fence));
    EXPECT_TRUE(client_.ack(claimed[0].fence));
}

TEST_P(TransportStore, ClaimOfManyGoesByPriorityAndKeys)
{
    client_.publish("low", "low", 0, "red");
    client_.publish("high", "high", 3, "red");
    client_.publish("other", "other", 3, "blue");
    client_.publish("highest", "highest", 4, "green");
    EXPECT_THAT(payloads(client_.claim_many(9, 100, of_keys({"green", "red"}, 1))),
                ElementsAre("high", "highest"));
    EXPECT_THAT(payloads(client_.claim_many(9, 100)), ElementsAre("low", "other"));
}

TEST_P(TransportStore, ClaimOfManyPassesGhostsAndTakesWhatHasLapsed)
{
    client_.publish("ghost", "ghost");
    client_.file().sql("DELETE FROM harel_transport_messages");
    client_.publish("lapsed", "lapsed");
    client_.claim(100, {}, 10);
    client_.publish("new", "new");
    EXPECT_THAT(payloads(client_.claim_many(9, 111)), ElementsAre("new", "lapsed"));
    EXPECT_EQ(client_.file().value("SELECT count(*) FROM harel_transport_groups"), "2");
}

TEST_P(TransportStore, ClaimRemovesABoundedNumberOfGhostsAtATime)
{
    client_.file().sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)"
                       " INSERT INTO harel_transport_groups (group_id) SELECT 'ghost' || i FROM n");
    client_.publish("g", "m");
    const claim_request request{"w#1", 30};
    int calls = 0;
    claim_result result;
    do {
        const std::size_t before = groups().size();
        client_.file().sql("BEGIN IMMEDIATE");
        result = client_.get().claim({}, {&request, 1}, 100);
        client_.file().sql("COMMIT");
        EXPECT_LT(before - groups().size(), 1'000U);
        ++calls;
    } while (result.messages.empty() && !result.is_finished);
    EXPECT_GT(calls, 2);
    EXPECT_THAT(payloads(result.messages), ElementsAre("m"));
    EXPECT_THAT(groups(), ElementsAre("g"));
}

TEST_P(TransportStore, KeysCanBeAskedForTogetherWithGroupsThatHaveNone)
{
    client_.publish("plain", "plain");
    client_.publish("red", "red", 0, "red");
    client_.publish("blue", "blue", 0, "blue");
    client_.publish("urgent", "urgent", 3);
    claim_filter filter = of_keys({"blue"});
    filter.or_without_key = true;
    EXPECT_TRUE(client_.has_work(100, filter));
    EXPECT_EQ(client_.claim_payload(100, filter), "plain");
    EXPECT_EQ(client_.claim_payload(100, filter), "blue");
    filter.min_priority = 3;
    EXPECT_EQ(client_.claim_payload(100, filter), "urgent");
    EXPECT_FALSE(client_.has_work(100, filter));
}

TEST_P(TransportStore, OnlyGroupsWithoutKeyCanBeAskedFor)
{
    client_.publish("red", "red", 0, "red");
    client_.publish("plain", "plain");
    claim_filter filter = of_keys({});
    filter.or_without_key = true;
    EXPECT_EQ(client_.claim_payload(100, filter), "plain");
    EXPECT_EQ(client_.claim_payload(100, filter), "none");
}

TEST_P(TransportStore, ARefilledGroupComesFirstUnlessItIsToTakeTheLastTurn)
{
    for (const bool takes_last_turn : {false, true}) {
        client_.publish("old", "old");
        client_.publish("old", "old");
        client_.release(client_.claim(100).value().fence);
        client_.get().publish(
            {.group_id = "chat", .payload = "chat", .takes_last_turn = takes_last_turn});
        EXPECT_EQ(client_.claim_payload(101), takes_last_turn ? "old" : "chat");
        EXPECT_EQ(client_.claim_payload(101), takes_last_turn ? "chat" : "old");
        client_.file().sql("DELETE FROM harel_transport_messages;"
                           "DELETE FROM harel_transport_groups");
    }
}

TEST_P(TransportStore, TheLastTurnOfNobodyIsTheFirst)
{
    client_.get().publish({.group_id = "g", .payload = "m", .takes_last_turn = true});
    EXPECT_EQ(client_.file().value("SELECT last_claimed_at FROM harel_transport_groups"), "0.0");
    EXPECT_EQ(client_.claim_payload(100), "m");
}

TEST_P(TransportStore, RollsBackWithTheCallersTransaction)
{
    client_.publish("g", "m");
    client_.file().sql("BEGIN IMMEDIATE");
    const claim_request request{"w#1", 30};
    EXPECT_THAT(client_.get().claim({}, {&request, 1}, 100).messages, SizeIs(1));
    client_.get().publish({"h", "h"});
    client_.file().sql("ROLLBACK");
    EXPECT_THAT(messages(), ElementsAre("g|m|NULL|NULL"));
    EXPECT_EQ(client_.claim_payload(100), "m");
}

INSTANTIATE_TEST_SUITE_P(OnEveryShape, TransportStore,
                         testing::Values(transport_shape::complete, transport_shape::plain),
                         [](const auto& shape) {
                             return shape.param == transport_shape::complete ? "WithOurAdditions"
                                                                             : "OfTheFormatAlone";
                         });

TEST(Priority, IsAcceptedFromZeroToFour)
{
    EXPECT_NO_THROW(require_priority("priority", 0));
    EXPECT_NO_THROW(require_priority("priority", 4));
    EXPECT_ANY_THROW(require_priority("priority", -1));
    EXPECT_ANY_THROW(require_priority("priority", 5));
}

TEST(Visibility, IsAcceptedFromZeroOn)
{
    EXPECT_NO_THROW(require_visibility(0));
    EXPECT_NO_THROW(require_visibility(1e300));
    EXPECT_ANY_THROW(require_visibility(-0.001));
    EXPECT_ANY_THROW(require_visibility(std::nan("")));
}

} // namespace
