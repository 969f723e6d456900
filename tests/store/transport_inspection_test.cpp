#include "store/older_program.hpp"
#include "store/store_client.hpp"
#include "store/transport/transport_inspection.hpp"
#include "support/statement_cost.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace skein::store;
using skein::support::plain_connection;
using skein::support::steps_of;

class TransportInspectionOf : public testing::TestWithParam<format_version> {
protected:
    skein::support::temporary_directory directory_;
    plain_connection file_{directory_ / "test.db"};
    transport_names names_{"harel"};

    transport_inspection inspect()
    {
        const skein::sqlite::connection connection(file_.handle());
        return {connection, names_, find_transport(connection, names_)};
    }
};

TEST_P(TransportInspectionOf, AnOlderShapeTellsWhatThereIs)
{
    create_format(file_, GetParam());
    file_.sql("INSERT INTO harel_transport_messages (group_id, event, locked_by, lock_expiry)"
              " VALUES ('a', 'a1', 'w', 110), ('b', 'b1', '__parked__', 120),"
              " ('c', 'c1', NULL, NULL), ('a', 'a2', NULL, NULL), ('d', 'd1', 'w', 90)");
    const bool has_groups = GetParam() != format_version::messages_only;
    if (has_groups) {
        file_.sql("INSERT INTO harel_transport_groups (group_id, priority) VALUES ('a', 2), ('b',"
                  " 0), ('c', 0), ('d', 0)");
    }
    transport_inspection there = inspect();
    const message_counts counts = there.counts(100);
    EXPECT_EQ(counts.messages, 5);
    EXPECT_EQ(counts.groups, 4);
    EXPECT_EQ(counts.in_flight, 1);
    EXPECT_EQ(counts.parked, 1);
    EXPECT_EQ(counts.orphans, has_groups ? 0 : 4);
    EXPECT_EQ(counts.ghosts, 0);
    EXPECT_EQ(counts.oldest_waiting.value().seq, 3);

    const std::vector<inspected_group> groups = there.groups(100, {}, 100);
    ASSERT_EQ(groups.size(), has_groups ? 4U : 0U);
    if (has_groups) {
        EXPECT_EQ(groups[0].messages, 2);
        EXPECT_EQ(groups[0].priority, 2);
        EXPECT_EQ(groups[0].routing_key, std::nullopt);
        EXPECT_EQ(groups[0].lock.value().expiry, 110);
        EXPECT_FALSE(groups[3].lock);
    }
}

TEST_P(TransportInspectionOf, AnOlderShapeIsStillRightAfterItsUpgrade)
{
    create_format(file_, GetParam());
    file_.sql("INSERT INTO harel_transport_messages (group_id, event) VALUES ('g', 'm')");
    transport_inspection there = inspect();
    EXPECT_EQ(there.is_of_older_shape(), GetParam() != format_version::keys);
    EXPECT_EQ(there.counts(100).messages, 1);
    EXPECT_EQ(there.groups(100, {}, 100).size(), 0U);
    create_transport(skein::sqlite::connection(file_.handle()), names_);
    EXPECT_EQ(there.counts(100).messages, 1);
    EXPECT_EQ(inspect().counts(100).messages, 1);
    EXPECT_FALSE(inspect().is_of_older_shape());
}

INSTANTIATE_TEST_SUITE_P(EveryShape, TransportInspectionOf,
                         testing::Values(format_version::messages_only, format_version::no_indexes,
                                         format_version::no_keys, format_version::keys));

class TransportInspectionCost : public testing::Test {
protected:
    void fill(int groups, int messages_in_each)
    {
        client_.file().sql(
            "DELETE FROM harel_transport_messages; DELETE FROM harel_transport_groups;"
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
            std::to_string(groups * messages_in_each) +
            ") INSERT INTO harel_transport_messages (group_id, event)"
            " SELECT printf('%08d', i / " +
            std::to_string(messages_in_each) +
            "), 'm' FROM n;"
            "INSERT INTO harel_transport_groups (group_id)"
            " SELECT DISTINCT group_id FROM harel_transport_messages");
    }

    long steps_of_page()
    {
        return steps_of(client_.file().handle(),
                        [&] { return there_.groups(10, "00000020", 100); });
    }

    long steps_of_counts()
    {
        return steps_of(client_.file().handle(), [&] { return there_.counts(100); });
    }

    skein::support::temporary_directory directory_;
    store_client client_{directory_ / "test.db"};
    transport_inspection there_{
        skein::sqlite::connection(client_.file().handle()), client_.names(),
        find_transport(skein::sqlite::connection(client_.file().handle()), client_.names())};
};

TEST_F(TransportInspectionCost, OfAPageIsThatOfItsGroupsAlone)
{
    fill(100, 5);
    const long few = steps_of_page();
    fill(2000, 5);
    const long many = steps_of_page();
    EXPECT_GT(few, 0);
    EXPECT_EQ(few, many);
}

TEST_F(TransportInspectionCost, OfCountsGrowsWithTheGroupsAndNotWithTheirMessages)
{
    fill(50, 5);
    const long shallow = steps_of_counts();
    fill(50, 500);
    const long deep = steps_of_counts();
    EXPECT_GT(shallow, 0);
    EXPECT_EQ(shallow, deep);
}

} // namespace
