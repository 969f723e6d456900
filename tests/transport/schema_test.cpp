#include "support/child_process.hpp"
#include "support/manual_database.hpp"
#include "support/other_process.hpp"
#include "support/plain_connection.hpp"
#include "support/statement_counter.hpp"

#include <skein/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace skein;
using support::manual_database;
using support::other_process;
using support::plain_connection;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* before_routing_keys =
    "PRAGMA journal_mode = wal;"
    "CREATE TABLE harel_transport_messages (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " group_id TEXT NOT NULL, event TEXT NOT NULL, locked_by TEXT, lock_expiry REAL);"
    "CREATE TABLE harel_transport_groups (group_id TEXT PRIMARY KEY,"
    " last_claimed_at REAL NOT NULL DEFAULT 0.0, priority INT NOT NULL DEFAULT 0);"
    "CREATE INDEX harel_transport_groups_by_last_claimed"
    " ON harel_transport_groups (last_claimed_at);"
    "CREATE INDEX harel_transport_messages_by_group ON harel_transport_messages (group_id, seq);"
    "INSERT INTO harel_transport_messages (group_id, event) VALUES ('g', 'waiting');"
    "INSERT INTO harel_transport_groups (group_id) VALUES ('g')";

class TransportTables : public ::testing::Test {
protected:
    static std::error_code code_of(manual_database& database, const transport_options& options)
    {
        const auto transport = database.database().transport(options);
        auto claim = database.start(transport.try_claim());
        database.settle();
        return claim.error();
    }

    static std::string claim(manual_database& database, const skein::transport& transport,
                             const claim_options& options = {})
    {
        const auto claimed = database.run(transport.try_claim(options));
        return claimed ? std::string(claimed->payload()) : "none";
    }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
};

TEST_F(TransportTables, CreatesExactSchema)
{
    manual_database database;
    const auto transport = database.database().transport();
    const plain_connection file(database.path());
    EXPECT_THAT(file.sql("SELECT name FROM sqlite_schema"), IsEmpty())
        << "a handle alone makes nothing";
    EXPECT_EQ(claim(database, transport), "none");
    EXPECT_THAT(
        file.sql("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE '\\_skein\\_%'"
                 " ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"),
        ElementsAre("table|harel_transport_groups", "index|harel_transport_groups_by_last_claimed",
                    "index|harel_transport_groups_by_routing_key", "table|harel_transport_messages",
                    "index|harel_transport_messages_by_group"));
    EXPECT_EQ(file.value("PRAGMA user_version"), "0");
}

TEST_F(TransportTables, PrefixIsolation)
{
    manual_database database;
    const auto one = database.database().transport({.prefix = "one"});
    const auto two = database.database().transport({.prefix = "two"});
    EXPECT_NE(one, two);
    auto waiting = database.start(two.claim());
    database.run(one.publish("g", "m"));
    EXPECT_EQ(claim(database, two), "none");
    EXPECT_FALSE(waiting.is_done());
    EXPECT_EQ(claim(database, one), "m");
}

TEST_F(TransportTables, PrefixesThatDifferInCaseOnlyAreOneTransport)
{
    manual_database database;
    const auto lower = database.database().transport({.prefix = "jobs"});
    const auto upper = database.database().transport({.prefix = "JOBS"});
    auto waiting = database.start(lower.claim());
    database.settle();
    database.run(upper.publish("g", "m"));
    EXPECT_TRUE(waiting.is_done()) << "SQLite takes both names for the same tables";
}

TEST_F(TransportTables, BadPrefix)
{
    manual_database database;
    const std::string too_long(31, 'x');
    for (const std::string_view prefix :
         {std::string_view(""), std::string_view("1abc"), std::string_view("has-dash"),
          std::string_view("has space"), std::string_view("a;drop"), std::string_view(too_long),
          std::string_view("a\0b", 3), std::string_view("SQLite_x")}) {
        try {
            static_cast<void>(database.database().transport({.prefix = prefix}));
            ADD_FAILURE() << "accepted: " << prefix;
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::invalid_argument)) << prefix;
            EXPECT_THAT(refused.what(), HasSubstr("prefix"));
        }
    }
    EXPECT_THAT(plain_connection(database.path()).sql("SELECT name FROM sqlite_schema"), IsEmpty());
}

TEST_F(TransportTables, GoodPrefix)
{
    manual_database database;
    const std::string longest(30, 'x');
    for (const std::string_view prefix : {"a", "_", "_1", "Z9", longest.c_str(), "select"}) {
        const auto transport = database.database().transport({.prefix = prefix});
        database.run(transport.publish("g", prefix));
        EXPECT_EQ(claim(database, transport), prefix);
    }
}

TEST_F(TransportTables, ThePrefixIsOwnedFromTheCallOn)
{
    manual_database database;
    std::optional<skein::transport> transport;
    {
        const std::string prefix = "short_lived_prefix_of_a_string";
        transport = database.database().transport({.prefix = prefix});
    }
    database.run(transport->publish("g", "m"));
    EXPECT_EQ(plain_connection(database.path())
                  .value("SELECT count(*) FROM short_lived_prefix_of_a_string_transport_messages"),
              "1");
}

TEST_F(TransportTables, NoCreateSchema)
{
    manual_database database;
    const plain_connection file(database.path());
    const auto transport = database.database().transport({.create_schema = false});
    const std::error_code refused = make_error_code(errc::storage_failure);
    auto publish = database.start(transport.publish("g", "m"));
    auto claim = database.start(transport.try_claim());
    auto ack = database.start(transport.ack(message_fence(1, "g", "t")));
    database.settle();
    EXPECT_EQ(publish.error(), refused);
    EXPECT_EQ(claim.error(), refused);
    EXPECT_EQ(ack.error(), refused);
    EXPECT_THAT(file.sql("SELECT name FROM sqlite_schema"), IsEmpty());
}

TEST_F(TransportTables, NoCreateSchemaCannotBeLookedInto)
{
    manual_database database;
    const auto transport = database.database().transport({.create_schema = false});
    auto counts = database.start(transport.counts());
    auto groups = database.start(transport.groups());
    database.settle();
    EXPECT_EQ(counts.error(), make_error_code(errc::storage_failure));
    EXPECT_EQ(groups.error(), make_error_code(errc::storage_failure));
}

TEST_F(TransportTables, AreNotMadeByLooking)
{
    manual_database database;
    const plain_connection file(database.path());
    const auto transport = database.database().transport();
    EXPECT_EQ(database.run(transport.counts()).messages, 0U);
    EXPECT_THAT(database.run(transport.groups()), IsEmpty());
    EXPECT_THAT(file.sql("SELECT name FROM sqlite_schema"), IsEmpty());
    database.run(transport.publish("g", "m"));
    EXPECT_EQ(database.run(transport.counts()).messages, 1U);
    EXPECT_THAT(database.run(transport.groups()), ::testing::SizeIs(1));
}

TEST_F(TransportTables, AreNotUpgradedByLooking)
{
    const plain_connection file(path_);
    file.sql(before_routing_keys);
    const auto before = file.sql("SELECT sql FROM sqlite_schema");
    manual_database database(path_);
    const auto transport = database.database().transport();
    EXPECT_EQ(database.run(transport.counts()).waiting, 1U);
    EXPECT_EQ(database.run(transport.groups()).at(0).name, "g");
    EXPECT_EQ(file.sql("SELECT sql FROM sqlite_schema"), before);

    database.run(transport.publish("h", "m", {.routing_key = "a"}));
    EXPECT_EQ(database.run(transport.groups()).at(1).routing_key, "a");
}

TEST_F(TransportTables, NoCreateSchemaWorksOnceSomebodyElseHasMadeIt)
{
    manual_database database;
    EXPECT_EQ(code_of(database, {.create_schema = false}), make_error_code(errc::storage_failure));
    manual_database owner(database.path());
    owner.run(owner.database().transport().publish("g", "m"));
    EXPECT_EQ(claim(database, database.database().transport({.create_schema = false})), "m");
}

TEST_F(TransportTables, NoCreateSchemaLeavesAnOlderShapeAlone)
{
    const plain_connection file(path_);
    file.sql(before_routing_keys);
    const auto before = file.sql("SELECT sql FROM sqlite_schema");
    manual_database database(path_);
    const auto transport = database.database().transport({.create_schema = false});
    auto publish = database.start(transport.publish("g", "m"));
    database.settle();
    EXPECT_EQ(publish.error(), make_error_code(errc::storage_failure));
    EXPECT_EQ(file.sql("SELECT sql FROM sqlite_schema"), before);
}

TEST_F(TransportTables, MigrateV3ToV4)
{
    plain_connection(path_).sql(before_routing_keys);
    manual_database database(path_);
    const auto transport = database.database().transport();
    const std::string_view keys[] = {"a"};
    EXPECT_EQ(claim(database, transport, {.routing_keys = keys}), "none");
    const plain_connection file(path_);
    EXPECT_EQ(file.value("SELECT routing_key FROM harel_transport_groups"), "NULL");
    EXPECT_THAT(file.sql("SELECT name FROM sqlite_schema"
                         " WHERE name = 'harel_transport_groups_by_routing_key'"),
                ::testing::SizeIs(1));
    EXPECT_EQ(claim(database, transport), "waiting");
}

TEST_F(TransportTables, MigrationIsDoneByTheFirstUseWhateverItIs)
{
    for (int use = 0; use < 3; ++use) {
        const auto path = directory_ / (std::to_string(use) + ".db");
        plain_connection(path).sql(before_routing_keys);
        manual_database database(path);
        const auto transport = database.database().transport();
        if (use == 0) {
            database.run(transport.publish("h", "m", {.routing_key = "a"}));
        } else if (use == 1) {
            EXPECT_FALSE(database.run(transport.ack(message_fence(9, "g", "t"))));
        } else {
            const auto place = [&](transaction& tx) { transport.publish(tx, "h", "m"); };
            database.run(database.database().transaction(place));
        }
        EXPECT_EQ(claim(database, transport), "waiting") << use;
    }
}

TEST_F(TransportTables, AWaitingClaimSeesThatAnOlderProgramPublishes)
{
    plain_connection(path_).sql(before_routing_keys);
    manual_database database(path_);
    const auto transport = database.database().transport();
    auto first = database.run(transport.claim());
    auto waiting = database.start(transport.claim());
    database.settle();
    EXPECT_FALSE(waiting.is_done());

    other_process older(path_);
    older.sql("INSERT INTO harel_transport_messages (group_id, event) VALUES ('h', 'late')");
    database.advance(std::chrono::milliseconds{1});
    EXPECT_FALSE(waiting.is_done()) << "the group is not there yet";
    older.sql("INSERT OR IGNORE INTO harel_transport_groups (group_id, priority) VALUES ('h', 0)");
    database.advance(std::chrono::milliseconds{1});
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "late");
}

TEST_F(TransportTables, OlderRowsAndOursAreUnderstoodByBoth)
{
    manual_database database(path_);
    const auto transport = database.database().transport();
    database.run(transport.publish("ours", "o1", {.priority = 2, .routing_key = "a"}));
    other_process older(path_);
    EXPECT_THAT(older.sql("SELECT group_id, last_claimed_at, priority, routing_key"
                          " FROM harel_transport_groups"),
                ElementsAre("ours|0.0|2|a"));
    older.sql("INSERT INTO harel_transport_messages (group_id, event, locked_by, lock_expiry)"
              " VALUES ('leased', 'l', 'host', 110), ('parked', 'p', '__parked__', 120.5),"
              " ('free', 'f', NULL, NULL)");
    older.sql("INSERT INTO harel_transport_groups (group_id, priority)"
              " VALUES ('leased', 0), ('parked', 0), ('free', 99)");

    auto claimed = database.run(transport.try_claim("w"));
    ASSERT_TRUE(claimed);
    EXPECT_THAT(older.sql("SELECT locked_by LIKE 'w#%', lock_expiry FROM harel_transport_messages"
                          " WHERE group_id = 'ours'"),
                ElementsAre("1|130.0"));
    EXPECT_TRUE(database.run(claimed->nack(std::chrono::seconds{50})));
    EXPECT_THAT(older.sql("SELECT locked_by, lock_expiry FROM harel_transport_messages"
                          " WHERE group_id = 'ours'"),
                ElementsAre("__parked__|150.0"));

    claimed = database.run(transport.try_claim({.min_priority = 4}));
    EXPECT_EQ(claimed->payload(), "f");
    EXPECT_TRUE(database.run(claimed->nack()));
    EXPECT_THAT(older.sql("SELECT locked_by, lock_expiry FROM harel_transport_messages"
                          " WHERE group_id = 'free'"),
                ElementsAre("NULL|NULL"));
    claimed = database.run(transport.try_claim());
    EXPECT_TRUE(database.run(claimed->ack()));
    EXPECT_EQ(claim(database, transport), "none");
    database.advance(std::chrono::seconds{11});
    EXPECT_EQ(claim(database, transport, {.visibility = std::chrono::hours{1}}), "l");
    EXPECT_EQ(claim(database, transport), "l") << "the handle was dropped: given back at once";
    const auto leased = database.run(transport.try_claim());
    database.advance(std::chrono::seconds{10});
    EXPECT_EQ(claim(database, transport), "p");
}

TEST_F(TransportTables, GroupRowDroppedOnDrain)
{
    manual_database database;
    const auto transport = database.database().transport();
    database.run(transport.publish("g", "m"));
    auto claimed = database.run(transport.claim());
    EXPECT_TRUE(database.run(claimed.ack()));
    EXPECT_THAT(plain_connection(database.path()).sql("SELECT * FROM harel_transport_groups"),
                IsEmpty());
}

TEST_F(TransportTables, GhostSkipped)
{
    manual_database database;
    const auto transport = database.database().transport();
    database.run(transport.publish("g", "m"));
    const plain_connection file(database.path());
    file.sql("INSERT INTO harel_transport_groups (rowid, group_id) VALUES (-1, 'ghost')");
    EXPECT_EQ(claim(database, transport), "m");
    EXPECT_THAT(file.sql("SELECT group_id FROM harel_transport_groups"), ElementsAre("g"));
}

TEST_F(TransportTables, EmptyGroupDropped)
{
    manual_database database;
    const auto transport = database.database().transport();
    EXPECT_EQ(claim(database, transport), "none");
    const plain_connection file(database.path());
    file.sql("INSERT INTO harel_transport_groups (group_id) VALUES ('g')");
    // The claim that drops the group, and the publish that wants it, in one batch and in two.
    auto claiming = database.start(transport.try_claim());
    auto publishing = database.start(transport.publish("g", "m1", {.priority = 3}));
    database.settle();
    publishing.result();
    auto first = claiming.result();
    EXPECT_EQ(first ? std::string(first->payload()) : claim(database, transport), "m1");
}

TEST_F(TransportTables, PublishAtomic)
{
    manual_database database;
    const auto transport = database.database().transport();
    EXPECT_EQ(claim(database, transport), "none");
    const plain_connection file(database.path());
    file.sql("CREATE TRIGGER fault BEFORE INSERT ON harel_transport_messages"
             " WHEN NEW.event = 'fails' BEGIN SELECT RAISE(ABORT, 'injected'); END");
    auto before = database.start(transport.publish("before", "m"));
    auto fails = database.start(transport.publish("fails", "fails"));
    auto after = database.start(transport.publish("after", "m"));
    database.settle();
    before.result();
    after.result();
    EXPECT_EQ(fails.error(), make_error_code(errc::storage_failure));
    EXPECT_THAT(file.sql("SELECT group_id FROM harel_transport_groups ORDER BY rowid"),
                ElementsAre("before", "after"));
    EXPECT_THAT(file.sql("SELECT group_id FROM harel_transport_messages ORDER BY seq"),
                ElementsAre("before", "after"));
}

TEST_F(TransportTables, ANewerSkeinsTablesAreRefused)
{
    {
        manual_database database(path_);
        database.run(database.database().transport().publish("g", "m"));
    }
    plain_connection(path_).sql("UPDATE _skein_meta SET version = version + 1");
    manual_database database(path_);
    const std::error_code refused = make_error_code(errc::schema_too_new);
    EXPECT_EQ(code_of(database, {}), refused);
    EXPECT_EQ(code_of(database, {.create_schema = false}), refused);
    auto publish = database.start(database.database().transport().publish("g", "m"));
    auto counts = database.start(database.database().transport().counts());
    database.settle();
    EXPECT_EQ(publish.error(), refused);
    EXPECT_EQ(counts.error(), refused);
}

} // namespace
