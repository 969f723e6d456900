#include "store/older_program.hpp"
#include "support/manual_database.hpp"

#include <skein/error.hpp>
#include <skein/schema.hpp>
#include <skein/transport.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein;
using schema::transport_version;
using support::manual_database;
using support::plain_connection;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Schema : public ::testing::Test {
protected:
    static void apply(const plain_connection& file, const std::vector<std::string>& statements)
    {
        file.sql("BEGIN IMMEDIATE");
        for (const std::string& each : statements) {
            file.sql(each);
        }
        file.sql("COMMIT");
    }

    /// All that the tables are and hold.
    static std::vector<std::string> everything_in(const plain_connection& file)
    {
        std::vector<std::string> all =
            file.sql("SELECT type, name, tbl_name, sql FROM sqlite_schema");
        for (const char* table : {"harel_transport_messages", "harel_transport_groups",
                                  "_skein_meta", "sqlite_sequence"}) {
            for (std::string& row : file.sql("SELECT * FROM " + std::string(table))) {
                all.push_back(std::string(table) + ": " + std::move(row));
            }
        }
        return all;
    }

    support::temporary_directory directory_;
    std::filesystem::path by_skein_ = directory_ / "skein.db";
    std::filesystem::path by_owner_ = directory_ / "owner.db";
    plain_connection owner_{by_owner_};
};

TEST_F(Schema, OfATransportIsWhatSkeinMakesItself)
{
    manual_database database(by_skein_);
    EXPECT_FALSE(database.run(database.database().transport().try_claim()));
    apply(owner_, schema::transport());
    EXPECT_EQ(everything_in(owner_), everything_in(plain_connection(by_skein_)));
}

TEST_F(Schema, OfATransportLeavesSkeinNothingToDo)
{
    apply(owner_, schema::transport("jobs"));
    const std::string before = owner_.value("PRAGMA schema_version");
    manual_database database(by_owner_);
    const auto transport = database.database().transport({.prefix = "jobs"});
    database.run(transport.publish("g", "m"));
    EXPECT_EQ(database.run(transport.claim()).payload(), "m");
    EXPECT_EQ(owner_.value("PRAGMA schema_version"), before);
}

TEST_F(Schema, OfSeveralTransportsFitsIntoOneFile)
{
    apply(owner_, schema::transport("one"));
    apply(owner_, schema::transport("TWO"));
    EXPECT_THAT(owner_.sql("SELECT * FROM _skein_meta ORDER BY name"),
                ElementsAre("transport one|1", "transport two|1"));
}

TEST_F(Schema, RefusesPrefixesByName)
{
    for (const char* prefix : {"", "1abc", "a;drop", "a'b", "sqlite_x"}) {
        try {
            static_cast<void>(schema::transport(prefix));
            ADD_FAILURE() << "accepted: " << prefix;
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::invalid_argument));
            EXPECT_THAT(refused.what(), HasSubstr("prefix"));
        }
        EXPECT_THROW(static_cast<void>(
                         schema::transport_upgrade(transport_version::without_additions, prefix)),
                     error);
    }
}

TEST_F(Schema, RefusesVersionsThatThereAreNot)
{
    EXPECT_THROW(static_cast<void>(schema::transport_upgrade(static_cast<transport_version>(77))),
                 error);
}

class SchemaUpgrade : public Schema, public ::testing::WithParamInterface<transport_version> {
protected:
    static void create_filled(const plain_connection& file)
    {
        create(file);
        fill(file);
    }

    static void create(const plain_connection& file)
    {
        switch (GetParam()) {
        case transport_version::unprefixed_messages:
            create_unprefixed(file, store::format_version::messages_only);
            break;
        case transport_version::unprefixed:
            create_unprefixed(file, store::format_version::no_keys);
            break;
        case transport_version::messages_only:
            create_format(file, store::format_version::messages_only);
            break;
        case transport_version::without_routing_keys:
            create_format(file, store::format_version::no_keys);
            break;
        case transport_version::without_additions:
            create_format(file, store::format_version::keys);
            break;
        }
    }

    static bool is_unprefixed()
    {
        return GetParam() == transport_version::unprefixed_messages ||
               GetParam() == transport_version::unprefixed;
    }

    static bool has_groups()
    {
        return GetParam() != transport_version::unprefixed_messages &&
               GetParam() != transport_version::messages_only;
    }

    static void fill(const plain_connection& file)
    {
        const std::string prefix = is_unprefixed() ? "" : "harel_transport_";
        file.sql("INSERT INTO " + prefix +
                 "messages (group_id, event, locked_by, lock_expiry) VALUES"
                 " ('leased', 'l', 'host', 110), ('parked', 'p', '__parked__', 120),"
                 " ('free', 'f', NULL, NULL), ('done', 'd', NULL, NULL)");
        file.sql("DELETE FROM " + prefix + "messages WHERE group_id = 'done'");
        if (has_groups()) {
            file.sql("INSERT INTO " + prefix +
                     "groups (group_id) VALUES ('leased'), ('parked'),"
                     " ('free')");
        }
    }

    static void upgrade_by_skein(manual_database& database)
    {
        const auto transport = database.database().transport();
        if (is_unprefixed()) {
            EXPECT_TRUE(database.run(transport.adopt_unprefixed_tables()));
        } else {
            EXPECT_FALSE(database.run(transport.unpark("nobody")));
        }
    }
};

TEST_P(SchemaUpgrade, IsWhatSkeinDoesItself)
{
    const plain_connection skeins(by_skein_);
    create_filled(skeins);
    create_filled(owner_);
    manual_database database(by_skein_);
    upgrade_by_skein(database);
    apply(owner_, schema::transport_upgrade(GetParam()));
    EXPECT_EQ(everything_in(owner_), everything_in(skeins));
    EXPECT_THAT(owner_.sql("SELECT group_id, blocked_until FROM harel_transport_groups"),
                ElementsAre("leased|110.0", "parked|120.0", "free|NULL"));
}

TEST_P(SchemaUpgrade, GivesWhatATransportNeedsThatLeavesTheSchemaAlone)
{
    create_filled(owner_);
    apply(owner_, schema::transport_upgrade(GetParam()));
    const auto before = owner_.sql("SELECT type, name, sql FROM sqlite_schema");
    manual_database database(by_owner_);
    const auto transport = database.database().transport({.create_schema = false});
    EXPECT_EQ(database.run(transport.claim()).payload(), "f");
    database.run(transport.publish("new", "n", {.priority = 2, .routing_key = "key"}));
    auto claimed = database.run(transport.try_claim({.min_priority = 2}));
    ASSERT_TRUE(claimed);
    EXPECT_EQ(claimed->seq(), 5) << "no number is used again";
    EXPECT_TRUE(database.run(claimed->ack()));
    EXPECT_EQ(owner_.sql("SELECT type, name, sql FROM sqlite_schema"), before);

    EXPECT_FALSE(database.run(database.database().transport().unpark("nobody")));
    EXPECT_EQ(owner_.sql("SELECT type, name, sql FROM sqlite_schema"), before);
}

INSTANTIATE_TEST_SUITE_P(FromEveryVersion, SchemaUpgrade,
                         ::testing::Values(transport_version::unprefixed_messages,
                                           transport_version::unprefixed,
                                           transport_version::messages_only,
                                           transport_version::without_routing_keys,
                                           transport_version::without_additions));

} // namespace
