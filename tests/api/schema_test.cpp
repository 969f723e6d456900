#include "store/older_program.hpp"
#include "store/older_queue_program.hpp"
#include "support/manual_database.hpp"

#include <skein/database.hpp>
#include <skein/error.hpp>
#include <skein/queue.hpp>
#include <skein/results.hpp>
#include <skein/schema.hpp>
#include <skein/stream.hpp>
#include <skein/transport.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein;
using schema::queue_version;
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

class QueueSchemaText : public Schema {
protected:
    /// All that the tables are and hold, but for the times of death: the library has its own clock.
    static std::vector<std::string> everything_in(const plain_connection& file)
    {
        std::vector<std::string> all =
            file.sql("SELECT type, name, tbl_name, sql FROM sqlite_schema");
        for (const char* query : {
                 "SELECT 'live', * FROM _honker_live ORDER BY id",
                 "SELECT 'dead', id, queue, payload, priority, run_at, attempts, max_attempts,"
                 " last_error, created_at FROM _honker_dead ORDER BY id",
                 "SELECT 'result', * FROM _honker_results ORDER BY job_id",
                 "SELECT * FROM _skein_meta",
                 "SELECT * FROM sqlite_sequence",
             }) {
            for (std::string& row : file.sql(query)) {
                all.push_back(std::move(row));
            }
        }
        return all;
    }

    static void open_by_skein(manual_database& database)
    {
        EXPECT_FALSE(database.run(database.database().queue("unused").try_claim()));
    }

    /// Enqueues, claims, fails, and finishes with a result.
    static void use(manual_database& database)
    {
        const auto queue = database.database().queue("mine", {.create_schema = false});
        const auto results = database.database().results({.create_schema = false});
        const std::int64_t id = database.run(queue.enqueue("1", {.delay = std::chrono::hours{1}}));
        database.advance(std::chrono::hours{1});
        job claimed = database.run(queue.claim());
        EXPECT_EQ(claimed.id(), id);
        database.run(results.save(id, "2"));
        EXPECT_TRUE(database.run(claimed.fail("no")));
        EXPECT_EQ(database.run(results.wait(id)).result, "2");
        EXPECT_GE(database.run(results.prune({.keep = 0})), 1U);
    }
};

TEST_F(QueueSchemaText, IsWhatSkeinMakesItself)
{
    manual_database database(by_skein_);
    open_by_skein(database);
    apply(owner_, schema::queue());
    EXPECT_EQ(everything_in(owner_), everything_in(plain_connection(by_skein_)));
}

TEST_F(QueueSchemaText, LeavesSkeinNothingToDo)
{
    apply(owner_, schema::queue());
    const std::string before = owner_.value("PRAGMA schema_version");
    manual_database database(by_owner_);
    open_by_skein(database);
    use(database);
    EXPECT_EQ(owner_.value("PRAGMA schema_version"), before);
}

TEST_F(QueueSchemaText, FitsIntoOneFileWithATransport)
{
    apply(owner_, schema::transport());
    apply(owner_, schema::queue());
    EXPECT_THAT(owner_.sql("SELECT * FROM _skein_meta ORDER BY name"),
                ElementsAre("queue|1", "transport harel|1"));
}

TEST_F(QueueSchemaText, IsWhatAQueueFailsClearlyWithoutWhenTheSchemaIsSomebodyElses)
{
    manual_database database(by_owner_);
    const auto queue = database.database().queue("q", {.create_schema = false});
    try {
        database.run(queue.enqueue("1"));
        ADD_FAILURE() << "enqueued";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), make_error_code(errc::storage_failure));
        EXPECT_THAT(refused.what(), HasSubstr("no such table: _honker_live"));
    }
    EXPECT_THAT(owner_.sql("SELECT name FROM sqlite_schema"), IsEmpty());
    apply(owner_, schema::queue());
    EXPECT_EQ(database.run(queue.enqueue("1")), 1);
}

TEST_F(QueueSchemaText, HasNoVersionsButThoseThatAreNamed)
{
    for (const int version : {-1, 3, 77}) {
        EXPECT_THROW(static_cast<void>(schema::queue_upgrade(static_cast<queue_version>(version))),
                     error);
    }
}

class QueueSchemaUpgrade : public QueueSchemaText,
                           public ::testing::WithParamInterface<queue_version> {
protected:
    static void create_filled(const plain_connection& file)
    {
        store::create_queue_format(file, format());
        file.sql(
            "INSERT INTO _honker_live (id, queue, payload, state, run_at, worker_id,"
            " claim_expires_at, attempts, max_attempts, created_at) VALUES"
            " (1, 'q', '1', 'pending', 0, NULL, NULL, 0, 3, 7),"
            " (2, 'q', '2', 'pending', 99999999999, NULL, NULL, 1, 3, 7),"
            " (3, 'q', '3', 'processing', 0, 'w', 99999999999, 1, 3, 7),"
            " (4, 'q', '4', 'processing', 0, 'w', 1, 3, 3, 7),"
            " (9, 'q', '9', 'pending', 0, NULL, NULL, 0, 3, 7);"
            "DELETE FROM _honker_live WHERE id = 9;"
            "INSERT INTO _honker_dead (id, queue, payload, created_at) VALUES (5, 'q', '5', 7);"
            "INSERT INTO _honker_results (job_id, value, created_at) VALUES (6, '6', 7)");
        if (format() != store::queue_format::newest) {
            file.sql("INSERT INTO _honker_live (id, queue, payload, attempts, max_attempts,"
                     " run_at, created_at) VALUES (8, 'q', '8', 3, 3, 0, 7)");
        }
    }

    static store::queue_format format()
    {
        switch (GetParam()) {
        case queue_version::without_claimed_at:
            return store::queue_format::without_claimed_at;
        case queue_version::without_scheduled_state:
            return store::queue_format::without_scheduled;
        case queue_version::without_additions:
            break;
        }
        return store::queue_format::newest;
    }
};

TEST_P(QueueSchemaUpgrade, IsWhatSkeinDoesItself)
{
    const plain_connection skeins(by_skein_);
    create_filled(skeins);
    create_filled(owner_);
    manual_database database(by_skein_);
    open_by_skein(database);
    apply(owner_, schema::queue_upgrade(GetParam()));
    EXPECT_EQ(everything_in(owner_), everything_in(skeins));
}

TEST_P(QueueSchemaUpgrade, KeepsWhatIsThere)
{
    create_filled(owner_);
    apply(owner_, schema::queue_upgrade(GetParam()));
    const bool has_scheduled = GetParam() == queue_version::without_additions;
    EXPECT_THAT(owner_.sql("SELECT id, payload, state FROM _honker_live ORDER BY id"),
                ElementsAre("1|1|pending", has_scheduled ? "2|2|pending" : "2|2|scheduled",
                            "3|3|processing", "4|4|processing"));
    EXPECT_THAT(owner_.sql("SELECT id, last_error FROM _honker_dead WHERE id <> 5"),
                has_scheduled ? ::testing::Matcher<std::vector<std::string>>(IsEmpty())
                              : ElementsAre("8|max attempts exceeded"));
    EXPECT_EQ(owner_.value("SELECT payload FROM _honker_dead WHERE id = 5"), "5");
    EXPECT_EQ(owner_.value("SELECT * FROM _honker_results"), "6|6|7|NULL");
}

TEST_P(QueueSchemaUpgrade, GivesWhatAQueueNeedsThatLeavesTheSchemaAlone)
{
    create_filled(owner_);
    apply(owner_, schema::queue_upgrade(GetParam()));
    const auto before = owner_.sql("SELECT type, name, sql FROM sqlite_schema");
    manual_database database(by_owner_);
    use(database);
    EXPECT_EQ(owner_.value("SELECT max(id) FROM _honker_dead"), "10") << "no number is used again";
    open_by_skein(database);
    EXPECT_EQ(owner_.sql("SELECT type, name, sql FROM sqlite_schema"), before);
}

TEST_P(QueueSchemaUpgrade, IsWhatAQueueFailsClearlyWithoutUnlessTheFormatIsThere)
{
    create_filled(owner_);
    const auto before = owner_.sql("SELECT type, name, sql FROM sqlite_schema");
    manual_database database(by_owner_);
    if (GetParam() == queue_version::without_additions) {
        use(database);
    } else {
        try {
            use(database);
            ADD_FAILURE() << "used";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::storage_failure));
            EXPECT_THAT(refused.what(), HasSubstr("no such index: _honker_live_"));
        }
    }
    EXPECT_EQ(owner_.sql("SELECT type, name, sql FROM sqlite_schema"), before);
}

INSTANTIATE_TEST_SUITE_P(FromEveryVersion, QueueSchemaUpgrade,
                         ::testing::Values(queue_version::without_claimed_at,
                                           queue_version::without_scheduled_state,
                                           queue_version::without_additions));

/// The tables of one feature, of which there has been one shape only.
struct feature {
    const char* name;
    std::vector<std::string> (*statements)();
    std::vector<std::string> objects; ///< of the format; ours come beside them
};

void PrintTo(const feature& printed, std::ostream* out)
{
    *out << printed.name;
}

class FeatureSchemaText : public Schema, public ::testing::WithParamInterface<feature> {
protected:
    static std::vector<std::string> everything_in(const plain_connection& file)
    {
        std::vector<std::string> all =
            file.sql("SELECT type, name, tbl_name, sql FROM sqlite_schema");
        for (std::string& row : file.sql("SELECT * FROM _skein_meta")) {
            all.push_back(std::move(row));
        }
        return all;
    }
};

TEST_P(FeatureSchemaText, MakesTheTablesInAnEmptyFile)
{
    apply(owner_, GetParam().statements());
    const auto names = owner_.sql("SELECT name FROM sqlite_schema");
    for (const std::string& each : GetParam().objects) {
        EXPECT_THAT(names, ::testing::Contains(each));
    }
    EXPECT_EQ(owner_.value("SELECT * FROM _skein_meta"), GetParam().name + std::string("|1"));
}

TEST_P(FeatureSchemaText, MayBeRunAgain)
{
    apply(owner_, GetParam().statements());
    const auto before = everything_in(owner_);
    const std::string version = owner_.value("PRAGMA schema_version");
    apply(owner_, GetParam().statements());
    EXPECT_EQ(everything_in(owner_), before);
    EXPECT_EQ(owner_.value("PRAGMA schema_version"), version);
}

TEST_P(FeatureSchemaText, CompletesTablesOfTheFormatAlone)
{
    for (const std::string& each : GetParam().statements()) {
        if (each.find("_skein_") == std::string::npos) {
            owner_.sql(each);
        }
    }
    apply(owner_, GetParam().statements());
    const plain_connection anew(by_skein_);
    apply(anew, GetParam().statements());
    const std::string names = "SELECT type, name, sql FROM sqlite_schema ORDER BY name";
    EXPECT_EQ(owner_.sql(names), anew.sql(names));
}

TEST_P(FeatureSchemaText, FitsIntoOneFileWithTheOthers)
{
    apply(owner_, GetParam().statements());
    apply(owner_, schema::queue());
    apply(owner_, schema::notifications());
    apply(owner_, schema::streams());
    apply(owner_, schema::locks());
    apply(owner_, schema::rate_limits());
    EXPECT_EQ(owner_.value("SELECT count(*) FROM _skein_meta"), "5");
}

TEST_P(FeatureSchemaText, HoldsStatementsThatBindNothingAndEndWithoutASemicolon)
{
    for (const std::string& each : GetParam().statements()) {
        EXPECT_FALSE(each.ends_with(";")) << each;
        EXPECT_EQ(each.find('?'), std::string::npos) << each;
    }
}

INSTANTIATE_TEST_SUITE_P(
    OfEach, FeatureSchemaText,
    ::testing::Values(feature{"notifications",
                              &schema::notifications,
                              {"_honker_notifications", "_honker_notifications_recent"}},
                      feature{
                          "streams",
                          &schema::streams,
                          {"_honker_stream", "_honker_stream_topic", "_honker_stream_consumers"}},
                      feature{"locks", &schema::locks, {"_honker_locks"}},
                      feature{"rate_limits", &schema::rate_limits, {"_honker_rate_limits"}}));

/// What stands beside the tables of queues, made by skein and by the owner of the schema.
class QueueFeatureSchemaText : public Schema {
protected:
    static void use(manual_database& database, bool create_schema)
    {
        const queue jobs = database.database().queue("q", {.create_schema = create_schema});
        const enqueued_job first = database.run(jobs.enqueue("1", {.unique = {.key = "u"}}));
        database.run(jobs.enqueue("2", {.concurrency = {.key = "c"}}));
        const std::optional<job> running = database.run(jobs.try_claim());
        EXPECT_TRUE(running);
        EXPECT_TRUE(database.run(jobs.request_stop(first)));
        EXPECT_TRUE(database.run(jobs.pause()));
        EXPECT_TRUE(database.run(jobs.resume()));
    }
};

TEST_F(QueueFeatureSchemaText, IsWhatSkeinMakesItself)
{
    manual_database database(by_skein_);
    use(database, true);
    for (const auto part :
         {schema::queue, schema::unique_jobs, schema::held_jobs, schema::stop_requests}) {
        apply(owner_, part());
        apply(owner_, part());
    }
    const std::string all = "SELECT type, name, tbl_name, sql FROM sqlite_schema";
    EXPECT_EQ(owner_.sql(all), plain_connection(by_skein_).sql(all));
    EXPECT_THAT(owner_.sql("SELECT * FROM _skein_meta ORDER BY name"),
                ElementsAre("held_jobs|1", "queue|1", "stop_requests|1", "unique_jobs|1"));
}

TEST_F(QueueFeatureSchemaText, GivesWhatHandlesNeedThatLeaveTheSchemaAlone)
{
    for (const auto part :
         {schema::queue, schema::unique_jobs, schema::held_jobs, schema::stop_requests}) {
        apply(owner_, part());
    }
    const std::string before = owner_.value("PRAGMA schema_version");
    manual_database database(by_owner_);
    use(database, false);
    EXPECT_EQ(owner_.value("PRAGMA schema_version"), before);
}

TEST_F(QueueFeatureSchemaText, IsWhatHandlesFailClearlyWithoutThatLeaveItAlone)
{
    apply(owner_, schema::queue());
    manual_database database(by_owner_);
    const queue jobs = database.database().queue("q", {.create_schema = false});
    const auto failure_of = [&](auto call) -> std::string {
        try {
            database.run(std::move(call));
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::storage_failure));
            return refused.what();
        }
        return "none";
    };
    EXPECT_THAT(failure_of(jobs.enqueue("1", {.unique = {.key = "u"}})),
                HasSubstr("no such table: _skein_unique_jobs"));
    EXPECT_THAT(failure_of(jobs.enqueue("1", {.concurrency = {.key = "c"}})),
                HasSubstr("no such table: _skein_job_limits"));
    EXPECT_THAT(failure_of(jobs.pause()), HasSubstr("no such table: _skein_paused_queues"));
    EXPECT_THAT(failure_of(jobs.request_stop(1)), HasSubstr("no such table: _skein_stop_requests"));
    EXPECT_EQ(owner_.value("SELECT count(*) FROM _honker_live"), "0");
    EXPECT_FALSE(database.run(jobs.is_paused()));
}

TEST_F(QueueFeatureSchemaText, ThatIsNewerIsRefused)
{
    manual_database database(by_owner_);
    const queue jobs = database.database().queue("q");
    database.run(jobs.enqueue("1", {.unique = {.key = "u"}, .concurrency = {.key = "c"}}));
    database.reopen();
    owner_.sql("UPDATE _skein_meta SET version = 2 WHERE name = 'held_jobs'");
    const queue again = database.database().queue("q");
    EXPECT_THROW(database.run(again.pause()), error);
}

/// Notifications and streams, made by skein and by the owner of the schema.
class LogSchemaText : public Schema {
protected:
    static void use(manual_database& database, bool create_schema)
    {
        listener inbox =
            database.run(database.database().listen("orders", {.create_schema = create_schema}));
        database.run(database.database().notify("orders", "1", {.create_schema = create_schema}));
        EXPECT_EQ(database.run(inbox.next()).payload, "1");
        EXPECT_EQ(database.run(database.database().prune_notifications(
                      {.keep = 0}, {.create_schema = create_schema})),
                  1U);

        const stream events =
            database.database().stream("orders", {.create_schema = create_schema});
        consumer who = database.run(events.consumer("c"));
        database.run(events.publish("key", "2"));
        EXPECT_EQ(database.run(who.next()).payload, "2");
        EXPECT_TRUE(database.run(who.save()));
        EXPECT_EQ(database.run(events.trim({.passed_by_all = true})), 1U);
    }
};

TEST_F(LogSchemaText, IsWhatSkeinMakesItself)
{
    manual_database database(by_skein_);
    use(database, true);
    apply(owner_, schema::notifications());
    apply(owner_, schema::streams());
    const std::string all = "SELECT type, name, tbl_name, sql FROM sqlite_schema";
    EXPECT_EQ(owner_.sql(all), plain_connection(by_skein_).sql(all));
    EXPECT_THAT(owner_.sql("SELECT * FROM _skein_meta ORDER BY name"),
                ElementsAre("notifications|1", "streams|1"));
}

TEST_F(LogSchemaText, GivesWhatHandlesNeedThatLeaveTheSchemaAlone)
{
    apply(owner_, schema::notifications());
    apply(owner_, schema::streams());
    const std::string before = owner_.value("PRAGMA schema_version");
    manual_database database(by_owner_);
    use(database, false);
    use(database, true);
    EXPECT_EQ(owner_.value("PRAGMA schema_version"), before);
}

TEST_F(LogSchemaText, IsWhatHandlesFailClearlyWithoutThatLeaveItAlone)
{
    manual_database database(by_owner_);
    const auto failure_of = [&](auto&& call) -> std::string {
        try {
            call();
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::storage_failure));
            return refused.what();
        }
        return "none";
    };
    EXPECT_THAT(failure_of([&] {
                    static_cast<void>(database.run(
                        database.database().listen("orders", {.create_schema = false})));
                }),
                HasSubstr("no such table: _honker_notifications"));
    EXPECT_THAT(failure_of([&] {
                    const stream events =
                        database.database().stream("orders", {.create_schema = false});
                    database.run(events.publish("1"));
                }),
                HasSubstr("no such table: _honker_stream"));
    EXPECT_THAT(owner_.sql("SELECT name FROM sqlite_schema"), IsEmpty());
}

} // namespace
