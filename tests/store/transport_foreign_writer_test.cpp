#include "store/older_program.hpp"
#include "store/store_client.hpp"
#include "store/transport/transport_repair.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

/// One file, used by skein and by a program that knows the format and nothing of our additions.
class TransportForeignWriter : public testing::Test {
protected:
    /// The end of the lease or park of every group's head, as the messages have it.
    void expect_blocked_until_is_right()
    {
        EXPECT_THAT(
            client_.file().sql("SELECT group_id, blocked_until, head FROM (SELECT group_id,"
                               " blocked_until, (SELECT lock_expiry FROM harel_transport_messages m"
                               " WHERE m.group_id = g.group_id ORDER BY seq LIMIT 1) AS head"
                               " FROM harel_transport_groups g) WHERE blocked_until IS NOT head"),
            IsEmpty());
    }

    void set_blocked_until(const std::string& group, const std::string& value)
    {
        client_.file().sql("UPDATE harel_transport_groups SET blocked_until = " + value +
                           " WHERE group_id = '" + group + "'");
    }

    skein::support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    store_client client_{path_};
    older_program older_{path_};
};

TEST_F(TransportForeignWriter, DeliversWhatTheOtherHasPublished)
{
    older_.publish("g", "g1");
    older_.publish("h", "h1", 2);
    older_.publish_with_key("k", "k1", "key");
    EXPECT_EQ(client_.claim_payload(100, of_keys({"key"})), "k1");
    EXPECT_EQ(client_.claim_payload(100, at_least(2)), "h1");
    EXPECT_EQ(client_.claim_payload(100), "g1");
    expect_blocked_until_is_right();
}

TEST_F(TransportForeignWriter, LeavesLeasesOfTheOtherAlone)
{
    older_.publish("g", "g1");
    older_.publish("g", "g2");
    const auto lease = older_.claim("other", 100, 10).value();
    EXPECT_EQ(client_.blocked_until("g"), "110.0");
    EXPECT_EQ(client_.next_lapse(100), 110);
    EXPECT_FALSE(client_.has_work(110));
    EXPECT_EQ(client_.claim_payload(110), "none");
    EXPECT_EQ(client_.claim_payload(110.5), "g1");
}

TEST_F(TransportForeignWriter, GoesOnWhenTheOtherAcknowledges)
{
    older_.publish("g", "g1");
    older_.publish("g", "g2");
    const auto lease = older_.claim("other", 100, 1000).value();
    older_.ack(lease);
    EXPECT_EQ(client_.blocked_until("g"), "NULL");
    EXPECT_EQ(client_.claim_payload(100), "g2");
    expect_blocked_until_is_right();
}

TEST_F(TransportForeignWriter, GoesOnWhenTheOtherGivesBack)
{
    older_.publish("g", "g1");
    const auto lease = older_.claim("other", 100, 1000).value();
    older_.nack(lease);
    EXPECT_EQ(client_.blocked_until("g"), "NULL");
    EXPECT_EQ(client_.claim_payload(100), "g1");
}

TEST_F(TransportForeignWriter, WaitsForWhatTheOtherHasParked)
{
    older_.publish("g", "g1");
    const auto lease = older_.claim("other", 100, 1000).value();
    older_.park(lease, 105);
    EXPECT_EQ(client_.blocked_until("g"), "105.0");
    EXPECT_EQ(client_.claim_payload(105), "none");
    EXPECT_EQ(client_.claim_payload(105.5), "g1");
}

TEST_F(TransportForeignWriter, TakesOverLapsedLeasesOfTheOther)
{
    older_.publish("g", "g1");
    older_.claim("other", 100, 10);
    const auto ours = client_.claim(111, {}, 10);
    ASSERT_TRUE(ours);
    EXPECT_FALSE(older_.claim("other", 120));
    EXPECT_TRUE(client_.ack(ours->fence));
}

TEST_F(TransportForeignWriter, IsUnderstoodByTheOther)
{
    client_.publish("leased", "leased");
    client_.publish("parked", "parked");
    client_.publish("free", "free");
    client_.claim(100, {}, 10);
    client_.park(client_.claim(100, {}, 10).value().fence, 120);
    EXPECT_EQ(older_.claim("other", 100).value().event, "free");
    EXPECT_FALSE(older_.claim("other", 110));
    EXPECT_EQ(older_.claim("other", 110.5).value().event, "leased");
    EXPECT_FALSE(older_.claim("other", 120));
    EXPECT_EQ(older_.claim("other", 120.5).value().event, "parked");
    expect_blocked_until_is_right();
}

TEST_F(TransportForeignWriter, LeavesStampsThatTheOtherCanSortBy)
{
    client_.publish("a", "a1");
    client_.publish("a", "a2");
    client_.publish("b", "b1");
    const auto served = client_.claim(100.5).value();
    EXPECT_EQ(client_.file().value("SELECT last_claimed_at FROM harel_transport_groups"
                                   " WHERE group_id = 'a'"),
              "100.5");
    client_.ack(served.fence);
    EXPECT_EQ(older_.claim("other", 101).value().event, "b1");
}

TEST_F(TransportForeignWriter, SurvivesThatTheOtherTakesAMessageFromUnderALease)
{
    client_.publish("g", "g1");
    client_.publish("g", "g2");
    const auto lapsed = older_.claim("other", 100, 10).value();
    const auto ours = client_.claim(111, {}, 100).value();
    // The other does not check whose lease it is.
    older_.ack(lapsed);
    EXPECT_EQ(client_.blocked_until("g"), "NULL");
    EXPECT_FALSE(client_.ack(ours.fence));
    EXPECT_EQ(client_.claim_payload(112), "g2");
    expect_blocked_until_is_right();
}

TEST_F(TransportForeignWriter, SurvivesThatTheOtherReplacesALeaseByAPark)
{
    client_.publish("g", "g1");
    const auto lapsed = older_.claim("other", 100, 10).value();
    const auto ours = client_.claim(111, {}, 100).value();
    older_.park(lapsed, 115);
    EXPECT_FALSE(client_.ack(ours.fence));
    EXPECT_EQ(client_.claim_payload(115), "none");
    EXPECT_EQ(client_.claim_payload(115.5), "g1");
}

TEST_F(TransportForeignWriter, WakesAGroupWhoseRowTheOtherDroppedAndMadeAgain)
{
    older_.publish("g", "g1");
    const auto lease = older_.claim("other", 100, 1000).value();
    older_.ack(lease);
    EXPECT_THAT(client_.file().sql("SELECT * FROM harel_transport_groups"), IsEmpty());
    older_.publish("g", "g2");
    EXPECT_EQ(client_.claim_payload(100), "g2");
}

TEST_F(TransportForeignWriter, HealsAGroupThatIsFreeOnlyByItsRow)
{
    client_.publish("g", "g1");
    client_.publish("g", "g2");
    client_.publish("h", "h1");
    older_.claim("other", 100, 10);
    set_blocked_until("g", "NULL");
    EXPECT_EQ(client_.claim_payload(105), "h1");
    EXPECT_EQ(client_.claim_payload(110), "none");
    EXPECT_EQ(client_.blocked_until("g"), "110.0");
    EXPECT_FALSE(client_.has_work(105)) << "the next claim would take the write lock for nothing";
    EXPECT_EQ(client_.claim_payload(110.5), "g1");
}

TEST_F(TransportForeignWriter, HealsManyGroupsThatAreFreeOnlyByTheirRows)
{
    client_.file().sql(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000)"
        " INSERT INTO harel_transport_messages (group_id, event, locked_by, lock_expiry)"
        " SELECT 'g' || i, 'm', 'other', 200 FROM n;"
        "INSERT INTO harel_transport_groups (group_id) SELECT group_id FROM"
        " harel_transport_messages");
    client_.publish("free", "free");
    EXPECT_EQ(client_.claim_payload(100), "free");
    expect_blocked_until_is_right();
    EXPECT_EQ(client_.next_lapse(100), 130);
}

TEST_F(TransportForeignWriter, HealsAGroupThatIsBlockedOnlyByItsRow)
{
    client_.publish("g", "g1");
    set_blocked_until("g", "105");
    EXPECT_EQ(client_.claim_payload(105.5), "g1");
    expect_blocked_until_is_right();
}

TEST_F(TransportForeignWriter, IsRepairedWithTheLeasesOfWhatItLeft)
{
    older_.publish_message("left", "l1");
    older_.publish_message("leased", "l1");
    older_.publish_message("leased", "l2");
    client_.file().sql("UPDATE harel_transport_messages SET locked_by = 'other', lock_expiry = 110"
                       " WHERE seq = 2");
    older_.publish_group("ghost");
    transport_repair repair(skein::sqlite::connection(client_.file().handle()), client_.names(),
                            client_.shape());
    const repaired_groups repaired = repair.run();
    EXPECT_EQ(repaired.orphans, 2);
    EXPECT_EQ(repaired.ghosts, 1);
    EXPECT_EQ(client_.blocked_until("left"), "NULL");
    EXPECT_EQ(client_.blocked_until("leased"), "110.0");
    expect_blocked_until_is_right();
}

TEST_F(TransportForeignWriter, HonoursRowsThatWereCopiedInWithTheirLeases)
{
    client_.file().sql(
        "INSERT INTO harel_transport_messages"
        " (seq, group_id, event, locked_by, lock_expiry) VALUES"
        " (10, 'leased', 'l', 'host-1', 110.0), (11, 'parked', 'p', '__parked__',"
        " 120.0), (12, 'free', 'f', NULL, NULL), (13, 'lapsed', 'e', 'host-2', 90.0);"
        "INSERT INTO harel_transport_groups (group_id, last_claimed_at) VALUES"
        " ('leased', 80), ('parked', 81), ('free', 0), ('lapsed', 60)");
    EXPECT_EQ(client_.claim_payload(100), "f");
    EXPECT_EQ(client_.claim_payload(100), "e");
    EXPECT_EQ(client_.claim_payload(100), "none");
    EXPECT_EQ(client_.claim_payload(110.5), "l");
    EXPECT_EQ(client_.claim_payload(120.5), "p");
}

TEST_F(TransportForeignWriter, KeepsBothProgramsApartOverAWholeWorkday)
{
    for (int each = 0; each < 40; ++each) {
        const std::string group = "g" + std::to_string(each % 4);
        if (each % 2 == 0) {
            older_.publish(group, std::to_string(each));
        } else {
            client_.publish(group, std::to_string(each));
        }
    }
    std::minstd_rand chance(1);
    std::map<std::string, std::vector<int>> delivered;
    double now = 100;
    for (int turn = 0; delivered["g0"].size() + delivered["g1"].size() + delivered["g2"].size() +
                           delivered["g3"].size() <
                       40;
         ++turn) {
        ASSERT_LT(turn, 1000);
        now += 1;
        const auto theirs = older_.claim("other", now, 5);
        const auto ours = client_.claim(now, {}, 5);
        if (theirs && ours) {
            ASSERT_NE(theirs->group, ours->fence.group_id);
        }
        const auto theirs_ends = chance() % 3;
        if (theirs && theirs_ends == 0) {
            older_.park(*theirs, now + 2);
        } else if (theirs && theirs_ends == 1) {
            older_.nack(*theirs);
        } else if (theirs) {
            older_.ack(*theirs);
            delivered[theirs->group].push_back(std::stoi(theirs->event));
        }
        const auto ours_ends = chance() % 5;
        if (ours && ours_ends == 0) {
            client_.park(ours->fence, now + 3);
        } else if (ours && ours_ends != 1) {
            ASSERT_TRUE(client_.ack(ours->fence));
            delivered[ours->fence.group_id].push_back(std::stoi(ours->payload));
        }
        // A lease that lapsed is noted by a later claim: only live ones must agree.
        EXPECT_THAT(
            client_.file().sql("SELECT group_id FROM harel_transport_messages m JOIN"
                               " harel_transport_groups g USING (group_id) WHERE lock_expiry >= " +
                               std::to_string(now) + " AND blocked_until IS NOT lock_expiry"),
            IsEmpty());
    }
    for (const auto& [group, events] : delivered) {
        EXPECT_TRUE(std::is_sorted(events.begin(), events.end())) << group;
        EXPECT_EQ(events.size(), 10U) << group;
    }
    EXPECT_THAT(client_.file().sql("SELECT * FROM harel_transport_groups"), IsEmpty());
}

} // namespace
