#include "store/store_client.hpp"
#include "support/statement_cost.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace {

using namespace skein::store;
using skein::support::steps_of;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr double now = 100;

/// What may be there in large numbers, written for `i` in 1…n: a group and its message.
struct crowd {
    std::string_view name;
    std::string_view group = "'crowd' || i";
    std::string_view locked_by = "NULL";
    std::string_view blocked_until = "NULL";
    std::string_view priority = "0";
    std::string_view routing_key = "NULL";
};

constexpr crowd crowds[] = {
    {.name = "MessagesInOneGroup", .group = "'deep'"},
    {.name = "Groups"},
    {.name = "ParkedGroups", .locked_by = "'__parked__'", .blocked_until = "1000.0 + i"},
    {.name = "GroupsParkedToOneMoment", .locked_by = "'__parked__'", .blocked_until = "1000.0"},
    {.name = "GroupsInFlight", .locked_by = "'w#' || i", .blocked_until = "130.0"},
    {.name = "GroupsUnderTheFloor", .priority = "i % 2"},
    {.name = "GroupsOfAnotherKey", .routing_key = "'another'"},
    {.name = "GroupsOfManyOtherKeys", .routing_key = "'another' || i"},
    {.name = "GroupsWithoutKey"},
    {.name = "GroupsOfTheKeysAskedFor", .priority = "i % 5", .routing_key = "'key' || (i % 8)"},
};

void insert(const skein::support::plain_connection& file, const crowd& what, int count)
{
    const std::string numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                " LIMIT " +
                                std::to_string(count) + ") ";
    const std::string group(what.group);
    file.sql("PRAGMA synchronous = off; BEGIN");
    file.sql(numbers +
             "INSERT OR IGNORE INTO harel_transport_groups"
             " (group_id, priority, routing_key, blocked_until) SELECT " +
             group + ", " + std::string(what.priority) + ", " + std::string(what.routing_key) +
             ", " + std::string(what.blocked_until) + " FROM n");
    file.sql(numbers +
             "INSERT INTO harel_transport_messages"
             " (group_id, event, locked_by, lock_expiry) SELECT " +
             group + ", 'm', " + std::string(what.locked_by) + ", " +
             std::string(what.blocked_until) + " FROM n");
    file.sql("COMMIT");
}

claim_filter eight_keys(int min_priority)
{
    return of_keys({"key0", "key1", "key2", "key3", "key4", "key5", "key6", "key7"}, min_priority);
}

/// The claims that are measured: what they accept.
const std::map<std::string, claim_filter>& filters()
{
    static const std::map<std::string, claim_filter> all{
        {"no filter", {}},
        {"a floor", at_least(2)},
        {"one key", of_keys({"key7"})},
        {"eight keys", eight_keys(0)},
        {"eight keys and a floor", eight_keys(2)},
        {"eight keys or none", {0, eight_keys(0).routing_keys, true}},
    };
    return all;
}

class TransportFlatness : public testing::TestWithParam<crowd> {
protected:
    /// Steps by what was done, with so many in the crowd.
    using costs = std::map<std::string, long>;

    static costs measure(int count)
    {
        const skein::support::temporary_directory directory;
        store_client client(directory / "test.db");
        insert(client.file(), GetParam(), count);
        costs result;
        for (const auto& [name, filter] : filters()) {
            measure_empty_claim(client, name, filter, result);
            measure_full_claim(client, name, filter, result);
        }
        return result;
    }

    /// With `filter`, everything that it accepts being leased: nothing can be claimed, and every
    /// group that could have been is in flight.
    static void measure_empty_claim(store_client& client, const std::string& name,
                                    const claim_filter& filter, costs& result)
    {
        if (client.has_work(now, filter)) {
            return;
        }
        // Prepares what will be measured.
        client.claim(now, filter);
        sqlite3* const file = client.file().handle();
        result["has_work, " + name] = steps_of(file, [&] { client.has_work(now, filter); });
        result["empty claim, " + name] = steps_of(file, [&] { client.claim(now, filter); });
        result["next_lapse, " + name] = steps_of(file, [&] { client.next_lapse(now); });
    }

    static void measure_full_claim(store_client& client, const std::string& name,
                                   const claim_filter& filter, costs& result)
    {
        sqlite3* const file = client.file().handle();
        for (const char* const which : {"first ", "second "}) {
            const std::string turn = which + name;
            client.publish("mine" + turn, "m", 2, "key7");
            client.publish("mine" + turn, "m", 2, "key7");
            std::optional<claimed_message> claimed;
            result["has_work, " + turn] = steps_of(file, [&] { client.has_work(now, filter); });
            result["claim, " + turn] = steps_of(file, [&] { claimed = client.claim(now, filter); });
            ASSERT_TRUE(claimed) << turn;
            result["extend, " + turn] =
                steps_of(file, [&] { client.extend(claimed->fence, now + 31); });
            result["ack, " + turn] = steps_of(file, [&] { client.ack(claimed->fence); });
            settle(client, filter, turn, result);
        }
    }

    /// A second claim that is parked, a third that is given back, and publishing to old and new.
    static void settle(store_client& client, const claim_filter& filter, const std::string& turn,
                       costs& result)
    {
        sqlite3* const file = client.file().handle();
        const auto released = client.claim(now, filter);
        ASSERT_TRUE(released) << turn;
        result["release, " + turn] = steps_of(file, [&] { client.release(released->fence); });
        const auto parked = client.claim(now, filter);
        ASSERT_TRUE(parked) << turn;
        result["park, " + turn] = steps_of(file, [&] { client.park(parked->fence, now + 50); });
        result["publish, " + turn] = steps_of(file, [&] { client.publish("fresh" + turn, "m"); });
        result["publish again, " + turn] =
            steps_of(file, [&] { client.publish("fresh" + turn, "m"); });
        result["publish last, " + turn] = steps_of(file, [&] {
            client.get().publish(
                {.group_id = "last" + turn, .payload = "m", .takes_last_turn = true});
        });
    }
};

TEST_P(TransportFlatness, CostsTheSameHoweverManyThereAre)
{
    const costs few = measure(1'000);
    const costs many = measure(100'000);
    ASSERT_EQ(few.size(), many.size());
    for (const auto& [name, cost] : few) {
        EXPECT_GT(cost, 0) << name;
        EXPECT_LE(many.at(name), cost + cost / 10) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(HoweverMany, TransportFlatness, testing::ValuesIn(crowds),
                         [](const auto& what) { return std::string(what.param.name); });

TEST(TransportCost, OfAClaimDoesNotGrowWithTheLeasesThatLapseAtOnce)
{
    const auto cost = [](int count) {
        const skein::support::temporary_directory directory;
        store_client client(directory / "test.db");
        insert(client.file(), {.name = "", .locked_by = "'w'", .blocked_until = "90.0"}, count);
        client.publish("prepares", "m");
        client.claim(80);
        return steps_of(client.file().handle(), [&] { client.claim(now); });
    };
    const long few = cost(1'000);
    EXPECT_LE(cost(100'000), few + few / 10);
}

TEST(TransportCost, OfAClaimDoesNotGrowWithTheGhostsThatWereMetOnce)
{
    const auto cost = [](int count) {
        const skein::support::temporary_directory directory;
        store_client client(directory / "test.db");
        insert(client.file(), {.name = ""}, count);
        client.file().sql("DELETE FROM harel_transport_messages");
        client.publish("first", "m");
        client.claim(now);
        client.publish("second", "m");
        return steps_of(client.file().handle(), [&] { client.claim(now); });
    };
    const long few = cost(1'000);
    EXPECT_GT(few, 0);
    EXPECT_LE(cost(100'000), few + few / 10);
}

TEST(TransportCost, OfAClaimOfOneKeyIsNotMuchLessThanThatOfTwo)
{
    const skein::support::temporary_directory directory;
    store_client client(directory / "test.db");
    insert(client.file(), {.name = "", .routing_key = "'key' || (i % 2)"}, 20'000);
    client.claim(now, of_keys({"key0", "key1"}));
    sqlite3* const file = client.file().handle();
    const long one = steps_of(file, [&] { client.claim(now, of_keys({"key0"})); });
    const long two = steps_of(file, [&] { client.claim(now, of_keys({"key0", "key1"})); });
    EXPECT_LT(two, 2 * one);
}

TEST(TransportCost, OfAnEmptyClaimIsAFewSteps)
{
    const skein::support::temporary_directory directory;
    store_client client(directory / "test.db");
    EXPECT_FALSE(client.has_work(now));
    const long cost = steps_of(client.file().handle(), [&] { client.has_work(now); });
    EXPECT_GT(cost, 0);
    EXPECT_LT(cost, 200);
}

TEST(TransportPlans, NeitherScanNorSort)
{
    const skein::support::temporary_directory directory;
    store_client client(directory / "test.db");
    for (const auto& [name, filter] : filters()) {
        client.publish("ghost", "m", 4, "key7");
        client.file().sql("DELETE FROM harel_transport_messages");
        client.publish("g", "m", 4, "key7");
        client.publish("lapses", "m", 4, "key7");
        client.has_work(now, filter);
        client.claim(now - 50, filter, 10);
        client.release(client.claim(now, filter).value().fence);
        client.extend(client.claim(now, filter).value().fence, now + 1);
        client.park(client.claim(now + 10, filter).value().fence, now + 2);
        client.ack(client.claim(now + 20, filter).value().fence);
        client.next_lapse(now);
        client.file().sql("DELETE FROM harel_transport_messages;"
                          "DELETE FROM harel_transport_groups");
    }
    const auto plans = skein::support::query_plans(client.file().handle());
    EXPECT_GE(plans.size(), 12U);
    EXPECT_THAT(plans, Each(Not(HasSubstr("=> SCAN"))));
    EXPECT_THAT(plans, Each(Not(HasSubstr("TEMP B-TREE"))));
}

} // namespace
