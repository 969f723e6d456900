#include "store/error.hpp"
#include "store/older_program.hpp"
#include "store/store_client.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using namespace skein::store;
using skein::support::plain_connection;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TransportSchema : public testing::Test {
protected:
    skein::support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";

    static std::vector<std::string> columns(const plain_connection& file, const std::string& table)
    {
        return file.sql("SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('" +
                        table + "')");
    }

    static std::vector<std::string> index_columns(const plain_connection& file,
                                                  const std::string& index)
    {
        return file.sql("SELECT name FROM pragma_index_info('" + index + "')");
    }
};

TEST_F(TransportSchema, IsExactlyTheFormatAndWhatIsNamedAsOurs)
{
    const store_client client(path_);
    EXPECT_THAT(
        client.file().sql("SELECT type, name FROM sqlite_schema"
                          " WHERE name NOT LIKE '\\_skein\\_%' ESCAPE '\\'"
                          " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"),
        ElementsAre("table|harel_transport_groups", "index|harel_transport_groups_by_last_claimed",
                    "index|harel_transport_groups_by_routing_key", "table|harel_transport_messages",
                    "index|harel_transport_messages_by_group"));
}

TEST_F(TransportSchema, HasTheColumnsOfTheFormatInTheirOrder)
{
    const store_client client(path_);
    EXPECT_THAT(columns(client.file(), "harel_transport_messages"),
                ElementsAre("seq|INTEGER|0|NULL|1", "group_id|TEXT|1|NULL|0", "event|TEXT|1|NULL|0",
                            "locked_by|TEXT|0|NULL|0", "lock_expiry|REAL|0|NULL|0"));
    EXPECT_THAT(columns(client.file(), "harel_transport_groups"),
                ElementsAre("group_id|TEXT|0|NULL|1", "last_claimed_at|REAL|1|0.0|0",
                            "priority|INT|1|0|0", "routing_key|TEXT|0|NULL|0",
                            "blocked_until|REAL|0|NULL|0"));
}

TEST_F(TransportSchema, HasTheIndexesOfTheFormat)
{
    const store_client client(path_);
    EXPECT_THAT(index_columns(client.file(), "harel_transport_groups_by_last_claimed"),
                ElementsAre("last_claimed_at"));
    EXPECT_THAT(index_columns(client.file(), "harel_transport_groups_by_routing_key"),
                ElementsAre("routing_key", "last_claimed_at"));
    EXPECT_THAT(index_columns(client.file(), "harel_transport_messages_by_group"),
                ElementsAre("group_id", "seq"));
}

TEST_F(TransportSchema, NeverUsesAMessageNumberAgain)
{
    store_client client(path_);
    client.publish("g", "first");
    client.ack(client.claim(100).value().fence);
    client.publish("g", "second");
    EXPECT_EQ(client.claim(100).value().fence.seq, 2);
}

TEST_F(TransportSchema, LeavesTheApplicationsVersionNumbersAlone)
{
    plain_connection(path_).sql("PRAGMA user_version = 42; PRAGMA application_id = 7");
    const store_client client(path_);
    EXPECT_EQ(client.file().value("PRAGMA user_version"), "42");
    EXPECT_EQ(client.file().value("PRAGMA application_id"), "7");
}

TEST_F(TransportSchema, IsNotWrittenAgainWhenAllIsThere)
{
    const store_client first(path_);
    const std::string before = first.file().value("PRAGMA schema_version");
    const store_client second(path_);
    EXPECT_EQ(second.file().value("PRAGMA schema_version"), before);
    EXPECT_EQ(second.shape(), transport_shape::complete);
}

TEST_F(TransportSchema, StandsBesideTablesOfTheApplicationThatLookAlike)
{
    plain_connection(path_).sql("CREATE TABLE messages (x); CREATE TABLE groups (x);"
                                "CREATE TABLE transport_messages (x)");
    store_client client(path_);
    client.publish("g", "m");
    EXPECT_EQ(client.claim_payload(100), "m");
}

TEST_F(TransportSchema, KeepsTransportsOfDifferentPrefixesApart)
{
    store_client one(path_, schema_owner::skein, "one");
    store_client two(path_, schema_owner::skein, "two");
    one.publish("g", "m");
    EXPECT_EQ(two.claim_payload(100), "none");
    EXPECT_EQ(one.claim_payload(100), "m");
}

TEST_F(TransportSchema, TakesPrefixesOfOneToThirtyCharactersThatAreIdentifiers)
{
    for (const std::string& prefix :
         {std::string("a"), std::string("_"), std::string("Z9_"), std::string(30, 'x')}) {
        EXPECT_NO_THROW(store_client(path_, schema_owner::skein, prefix)) << prefix;
    }
}

TEST_F(TransportSchema, RefusesOtherPrefixesByName)
{
    for (const std::string& prefix :
         {std::string(), std::string("1abc"), std::string("has-dash"), std::string("has space"),
          std::string("a;drop"), std::string(31, 'x'), std::string("a\0b", 3),
          std::string("\xc3\xa4"), std::string("a\n")}) {
        try {
            const transport_names names(prefix);
            ADD_FAILURE() << "accepted: " << prefix;
        } catch (const invalid_argument& refused) {
            EXPECT_THAT(refused.what(), HasSubstr("prefix"));
        }
    }
}

TEST_F(TransportSchema, IsMissingFromAnEmptyFileAndStaysSoUnlessItIsOurs)
{
    const store_client client(path_, schema_owner::somebody_else);
    EXPECT_EQ(client.shape(), transport_shape::missing);
    EXPECT_THAT(client.file().sql("SELECT name FROM sqlite_schema"), IsEmpty());
}

TEST_F(TransportSchema, IsPlainWhereSomebodyElseMadeTheFormatAlone)
{
    create_format(plain_connection(path_), format_version::keys);
    const store_client client(path_, schema_owner::somebody_else);
    EXPECT_EQ(client.shape(), transport_shape::plain);
    EXPECT_THAT(client.file().sql("SELECT name FROM sqlite_schema WHERE name LIKE '%skein%'"),
                IsEmpty());
}

TEST_F(TransportSchema, IsMissingWhereSomebodyElseHasAnOlderShape)
{
    create_format(plain_connection(path_), format_version::no_keys);
    EXPECT_EQ(store_client(path_, schema_owner::somebody_else).shape(), transport_shape::missing);
}

TEST_F(TransportSchema, IsCompleteForThoseWhoDoNotOwnItOnceItWasMade)
{
    const store_client owner(path_);
    EXPECT_EQ(store_client(path_, schema_owner::somebody_else).shape(), transport_shape::complete);
}

TEST_F(TransportSchema, IsMadeWholeWhenPartOfItWasDropped)
{
    const store_client before(path_);
    for (const std::string& object :
         before.file().sql("SELECT type || ' ' || name FROM sqlite_schema"
                           " WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
                           " AND tbl_name LIKE 'harel%'")) {
        before.file().sql("DROP " + object);
        EXPECT_EQ(
            inspect_transport(skein::sqlite::connection(before.file().handle()), before.names()),
            transport_shape::plain)
            << object;
        const store_client after(path_);
        EXPECT_EQ(after.shape(), transport_shape::complete) << object;
        EXPECT_THAT(after.file().sql("SELECT type || ' ' || name FROM sqlite_schema"),
                    Contains(object));
    }
}

TEST_F(TransportSchema, ForgetsLeasesThatEndedWhileItsTriggersWereGone)
{
    const store_client before(path_);
    before.file().sql("INSERT INTO harel_transport_groups (group_id, blocked_until) VALUES"
                      " ('g', 1e9)");
    before.file().sql("INSERT INTO harel_transport_messages (group_id, event, locked_by,"
                      " lock_expiry) VALUES ('g', 'm', 'w', 1e9)");
    before.file().sql("DROP TRIGGER _skein_harel_lock_changed");
    before.file().sql("UPDATE harel_transport_messages SET locked_by = NULL, lock_expiry = NULL");
    const store_client after(path_);
    EXPECT_THAT(after.file().sql("SELECT blocked_until IS NULL FROM harel_transport_groups"),
                testing::ElementsAre("1"));
}

TEST_F(TransportSchema, OfANewerSkeinIsRefusedByName)
{
    const store_client client(path_);
    client.file().sql("UPDATE _skein_meta SET version = version + 1");
    for (const schema_owner owner : {schema_owner::skein, schema_owner::somebody_else}) {
        try {
            const store_client refused(path_, owner);
            ADD_FAILURE() << "a newer schema was used";
        } catch (const schema_too_new& refusal) {
            EXPECT_THAT(refusal.what(), HasSubstr("transport harel"));
            EXPECT_THAT(refusal.what(), HasSubstr("version 2"));
        }
    }
}

TEST_F(TransportSchema, OfANewerSkeinDoesNotConcernOtherPrefixes)
{
    const store_client one(path_, schema_owner::skein, "one");
    one.file().sql("UPDATE _skein_meta SET version = version + 1");
    store_client two(path_, schema_owner::skein, "two");
    two.publish("g", "m");
    EXPECT_EQ(two.claim_payload(100), "m");
}

TEST_F(TransportSchema, IsGoneAgainWhenItsTransactionIsRolledBack)
{
    const plain_connection file(path_);
    file.sql("BEGIN IMMEDIATE");
    create_transport(skein::sqlite::connection(file.handle()), transport_names("harel"));
    file.sql("ROLLBACK");
    EXPECT_THAT(file.sql("SELECT name FROM sqlite_schema"), IsEmpty());
}

class TransportMigration : public TransportSchema,
                           public testing::WithParamInterface<format_version> {
protected:
    TransportMigration() { create_format(file_, GetParam()); }

    bool has_groups() const { return GetParam() != format_version::messages_only; }

    void insert(const std::string& group, const std::string& event,
                const std::string& locked_by = "NULL", const std::string& lock_expiry = "NULL")
    {
        file_.sql("INSERT INTO harel_transport_messages (group_id, event, locked_by, lock_expiry)"
                  " VALUES ('" +
                  group + "', '" + event + "', " + locked_by + ", " + lock_expiry + ")");
        if (has_groups()) {
            file_.sql("INSERT OR IGNORE INTO harel_transport_groups (group_id) VALUES ('" + group +
                      "')");
        }
    }

    plain_connection file_{path_};
};

TEST_P(TransportMigration, KeepsWhatWaitsInItsOrder)
{
    insert("b", "b1");
    insert("a", "a1");
    insert("b", "b2");
    store_client client(path_);
    ASSERT_EQ(client.shape(), transport_shape::complete);
    EXPECT_EQ(client.claim_payload(100), "b1");
    EXPECT_EQ(client.claim_payload(100), "a1");
    EXPECT_EQ(client.claim_payload(100), "none");
    EXPECT_EQ(client.claim_payload(131), "b1");
}

TEST_P(TransportMigration, LeavesTheRoutingKeyOfOldGroupsOpen)
{
    insert("g", "m");
    store_client client(path_);
    EXPECT_EQ(client.file().value("SELECT routing_key FROM harel_transport_groups"), "NULL");
    EXPECT_EQ(client.claim_payload(100, of_keys({"a"})), "none");
    EXPECT_EQ(client.claim_payload(100), "m");
}

TEST_P(TransportMigration, HonoursLeasesAndParks)
{
    insert("leased", "l1", "'somebody'", "110.5");
    insert("leased", "l2");
    insert("parked", "p1", "'__parked__'", "120.5");
    insert("free", "f1");
    insert("lapsed", "e1", "'somebody'", "90.5");
    store_client client(path_);
    EXPECT_EQ(client.blocked_until("leased"), "110.5");
    EXPECT_EQ(client.blocked_until("parked"), "120.5");
    EXPECT_EQ(client.blocked_until("free"), "NULL");
    EXPECT_EQ(client.next_lapse(100), 110.5);

    EXPECT_EQ(client.claim_payload(100), "f1");
    EXPECT_EQ(client.claim_payload(100), "e1");
    EXPECT_EQ(client.claim_payload(110.5), "none");
    EXPECT_EQ(client.claim_payload(110.75), "l1");
    EXPECT_EQ(client.claim_payload(120.75), "p1");
}

TEST_P(TransportMigration, LetsTheOlderProgramGoOn)
{
    insert("g", "g1");
    const store_client migrated(path_);
    older_program older(path_);
    older.publish("h", "h1");
    const auto first = older.claim("w", 100);
    const auto second = older.claim("w", 100);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->event, "g1");
    EXPECT_EQ(second->event, "h1");
    older.ack(*first);
    older.ack(*second);
    EXPECT_THAT(file_.sql("SELECT * FROM harel_transport_groups"), IsEmpty());
}

TEST_P(TransportMigration, KeepsPrioritiesAndStamps)
{
    insert("first", "f");
    insert("second", "s");
    if (has_groups()) {
        file_.sql("UPDATE harel_transport_groups SET last_claimed_at = 90, priority = 3"
                  " WHERE group_id = 'first'");
    }
    store_client client(path_);
    if (has_groups()) {
        EXPECT_EQ(client.claim_payload(100), "s");
        EXPECT_EQ(client.claim_payload(100, at_least(3)), "f");
    } else {
        EXPECT_EQ(client.claim_payload(100), "f");
    }
}

TEST_P(TransportMigration, HappensOnceWhenManyStartTogether)
{
    insert("g", "m");
    std::vector<std::thread> openers;
    std::vector<std::string> failures(8);
    for (std::string& failure : failures) {
        openers.emplace_back([&] {
            try {
                if (store_client(path_).shape() != transport_shape::complete) {
                    failure = "not complete";
                }
            } catch (const std::exception& refused) {
                failure = refused.what();
            }
        });
    }
    for (std::thread& each : openers) {
        each.join();
    }
    EXPECT_THAT(failures, testing::Each(""));
    EXPECT_EQ(file_.value("SELECT count(*) FROM pragma_table_info('harel_transport_groups')"
                          " WHERE name IN ('routing_key', 'blocked_until')"),
              "2");
    EXPECT_EQ(file_.value("SELECT count(*) FROM harel_transport_groups"), "1");
    EXPECT_EQ(store_client(path_).claim_payload(100), "m");
}

TEST_P(TransportMigration, ChangesNothingWhenItsTransactionIsRolledBack)
{
    insert("g", "m");
    const auto before = file_.sql("SELECT type, name, sql FROM sqlite_schema");
    file_.sql("BEGIN IMMEDIATE");
    create_transport(skein::sqlite::connection(file_.handle()), transport_names("harel"));
    file_.sql("ROLLBACK");
    EXPECT_EQ(file_.sql("SELECT type, name, sql FROM sqlite_schema"), before);
}

std::string name_of(const testing::TestParamInfo<format_version>& version)
{
    switch (version.param) {
    case format_version::messages_only:
        return "MessagesOnly";
    case format_version::no_indexes:
        return "WithoutIndexes";
    case format_version::no_keys:
        return "WithoutRoutingKeys";
    default:
        return "Newest";
    }
}

INSTANTIATE_TEST_SUITE_P(FromEveryShape, TransportMigration,
                         testing::Values(format_version::messages_only, format_version::no_indexes,
                                         format_version::no_keys, format_version::keys),
                         name_of);

} // namespace
