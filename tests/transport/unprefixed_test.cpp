#include "store/older_program.hpp"
#include "support/manual_database.hpp"

#include <skein/error.hpp>
#include <skein/transaction.hpp>
#include <skein/transport.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using namespace skein;
using store::create_unprefixed;
using store::format_version;
using support::manual_database;
using support::plain_connection;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UnprefixedTables : public ::testing::Test {
protected:
    void fill(format_version version = format_version::no_keys)
    {
        create_unprefixed(file_, version);
        file_.sql("INSERT INTO messages (group_id, event, locked_by, lock_expiry) VALUES"
                  " ('leased', 'l', 'host', 110), ('parked', 'p', '__parked__', 120),"
                  " ('free', 'f', NULL, NULL), ('done', 'd', NULL, NULL)");
        file_.sql("DELETE FROM messages WHERE group_id = 'done'");
        if (version != format_version::messages_only) {
            file_.sql("INSERT INTO groups (group_id, last_claimed_at, priority) VALUES"
                      " ('leased', 80, 0), ('parked', 90, 0), ('free', 0, 3)");
        }
    }

    bool adopt() { return database_.run(transport_.adopt_unprefixed_tables()); }

    std::string claim(const claim_options& options = {.visibility = std::chrono::hours{1}})
    {
        auto claimed = database_.run(transport_.try_claim(options));
        if (!claimed) {
            return "none";
        }
        const std::string payload(claimed->payload());
        static_cast<void>(claimed->detach());
        return payload;
    }

    std::vector<std::string> objects(std::string_view condition = "1")
    {
        return file_.sql("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' AND " +
                         std::string(condition) + " ORDER BY name");
    }

    /// All tables, indexes, triggers and views.
    std::vector<std::string> everything()
    {
        return file_.sql("SELECT type, name, sql FROM sqlite_schema ORDER BY name");
    }

    support::temporary_directory directory_;
    plain_connection file_{directory_ / "test.db"};
    manual_database database_{directory_ / "test.db"};
    skein::transport transport_ = database_.database().transport();
};

TEST_F(UnprefixedTables, OpenUnprefixed06)
{
    fill();
    EXPECT_TRUE(adopt());
    EXPECT_EQ(claim(), "f");
    EXPECT_EQ(claim(), "none");
    database_.advance(std::chrono::seconds{10});
    EXPECT_EQ(claim(), "none") << "at its very end a lease still holds";
    database_.advance(std::chrono::milliseconds{1});
    EXPECT_EQ(claim(), "l");
    EXPECT_EQ(claim(), "none");
    database_.advance(std::chrono::seconds{10});
    EXPECT_EQ(claim(), "p");
}

TEST_F(UnprefixedTables, HaveTheirNewNamesAndNoOldOnes)
{
    fill();
    EXPECT_TRUE(adopt());
    EXPECT_THAT(objects("name NOT LIKE '\\_skein\\_%' ESCAPE '\\'"),
                ElementsAre("harel_transport_groups", "harel_transport_groups_by_last_claimed",
                            "harel_transport_groups_by_routing_key", "harel_transport_messages",
                            "harel_transport_messages_by_group"));
    EXPECT_FALSE(adopt()) << "a second time there are none";
}

TEST_F(UnprefixedTables, KeepPrioritiesStampsAndNumbers)
{
    fill();
    EXPECT_TRUE(adopt());
    EXPECT_THAT(file_.sql("SELECT group_id, last_claimed_at, priority, routing_key, blocked_until"
                          " FROM harel_transport_groups"),
                ElementsAre("leased|80.0|0|NULL|110.0", "parked|90.0|0|NULL|120.0",
                            "free|0.0|3|NULL|NULL"));
    database_.run(transport_.publish("new", "n"));
    EXPECT_EQ(file_.value("SELECT max(seq) FROM harel_transport_messages"), "5")
        << "4 was used before";
}

TEST_F(UnprefixedTables, OfTheFirstVersionGetTheirGroups)
{
    fill(format_version::messages_only);
    EXPECT_TRUE(adopt());
    EXPECT_THAT(file_.sql("SELECT group_id, blocked_until FROM harel_transport_groups"),
                ElementsAre("leased|110.0", "parked|120.0", "free|NULL"));
    EXPECT_EQ(claim(), "f");
}

TEST_F(UnprefixedTables, WithoutIndexesAreTakenToo)
{
    fill(format_version::no_indexes);
    EXPECT_TRUE(adopt());
    EXPECT_EQ(claim(), "f");
}

TEST_F(UnprefixedTables, WakeWhoWaits)
{
    auto waiting = database_.start(transport_.claim());
    database_.settle();
    EXPECT_FALSE(waiting.is_done());
    fill();
    EXPECT_TRUE(adopt());
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "f");
}

TEST_F(UnprefixedTables, ReplaceEmptyTablesWhoseNumbersGoOn)
{
    for (int each = 0; each < 10; ++each) {
        database_.run(transport_.publish("g", "m"));
        auto claimed = database_.run(transport_.claim());
        EXPECT_TRUE(database_.run(claimed.ack()));
    }
    fill();
    file_.sql("INSERT INTO harel_transport_groups (group_id) VALUES ('ghost')");
    EXPECT_TRUE(adopt());
    EXPECT_EQ(claim(), "f");
    database_.run(transport_.publish("new", "n"));
    EXPECT_EQ(file_.value("SELECT max(seq) FROM harel_transport_messages"), "11")
        << "10 was used before";
    EXPECT_THAT(file_.sql("SELECT name FROM sqlite_sequence"),
                ElementsAre("harel_transport_messages"));
}

TEST_F(UnprefixedTables, AreLeftAloneWhenTheTransportHoldsMessages)
{
    fill();
    database_.run(transport_.publish("g", "m"));
    const auto before = everything();
    auto refused = database_.start(transport_.adopt_unprefixed_tables());
    database_.settle();
    EXPECT_EQ(refused.error(), make_error_code(errc::invalid_argument));
    EXPECT_EQ(everything(), before);
    EXPECT_EQ(file_.value("SELECT count(*) FROM messages"), "3");
    EXPECT_EQ(claim(), "m");
}

TEST_F(UnprefixedTables, CanGoToAnotherPrefix)
{
    fill();
    database_.run(transport_.publish("g", "m"));
    const auto old = database_.database().transport({.prefix = "old"});
    EXPECT_TRUE(database_.run(old.adopt_unprefixed_tables()));
    EXPECT_EQ(database_.run(old.claim()).payload(), "f");
    EXPECT_EQ(claim(), "m");
}

TEST_F(UnprefixedTables, AreNoneInAnEmptyFile)
{
    EXPECT_FALSE(adopt());
    EXPECT_THAT(objects(), IsEmpty());
}

TEST_F(UnprefixedTables, OfTheApplicationAreLeftAlone)
{
    const std::string messages = "CREATE TABLE messages (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
                                 " group_id, event, locked_by, lock_expiry);";
    const std::string groups = "CREATE TABLE groups (group_id, last_claimed_at, priority);";
    for (const std::string& theirs :
         {std::string("CREATE TABLE messages (id, text);") + groups,
          std::string("CREATE VIEW messages AS SELECT 1 AS seq, 2 AS group_id, 3 AS event,"
                      " 4 AS locked_by, 5 AS lock_expiry;"),
          messages + "CREATE TABLE groups (id, name);",
          messages + "CREATE TABLE groups (group_id, last_claimed_at, priority, name);", groups}) {
        file_.sql(theirs);
        const auto before = everything();
        EXPECT_FALSE(adopt()) << theirs;
        EXPECT_EQ(everything(), before);
        file_.sql("DROP TABLE IF EXISTS groups");
        file_.sql(theirs.starts_with("CREATE VIEW") ? "DROP VIEW messages"
                                                    : "DROP TABLE IF EXISTS messages");
    }
}

TEST_F(UnprefixedTables, AreNotForATransportThatLeavesItsTablesToOthers)
{
    const auto transport = database_.database().transport({.create_schema = false});
    try {
        static_cast<void>(transport.adopt_unprefixed_tables());
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), make_error_code(errc::invalid_argument));
        EXPECT_THAT(refused.what(), HasSubstr("create_schema"));
    }
}

TEST_F(UnprefixedTables, AreTakenWithTheTransactionOrNotAtAll)
{
    EXPECT_EQ(claim(), "none");
    fill();
    const auto before = everything();
    const auto taken_back = [this](transaction& tx) {
        EXPECT_TRUE(transport_.adopt_unprefixed_tables(tx));
        transport_.publish(tx, "new", "n");
        throw std::runtime_error("taken back");
    };
    EXPECT_THROW(database_.run(database_.database().transaction(taken_back)), std::runtime_error);
    EXPECT_EQ(everything(), before);
    EXPECT_EQ(claim(), "none");

    const auto work = [this](transaction& tx) { return transport_.adopt_unprefixed_tables(tx); };
    EXPECT_TRUE(database_.run(database_.database().transaction(work)));
    EXPECT_EQ(claim(), "f");
}

} // namespace
