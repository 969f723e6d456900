// Files in all the states in which a program may find them.

#include "extension/contract_fixture.hpp"
#include "store/older_queue_program.hpp"

namespace {

using namespace skein::support;
using skein::store::create_queue_format;
using skein::store::queue_format;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file whose tables, if any, are made by the test.
using Files = extension_fixture;

/// One call of each sort that succeeds on tables that are there.
constexpr const char* calls[] = {
    "honker_enqueue('q', '{}', NULL, NULL, 0, 1, NULL)",
    "honker_claim_batch('q', 'w', 1, 60)",
    "honker_queue_next_claim_at('q')",
    "honker_get_job(1)",
    "honker_heartbeat(1, 'w', 60)",
    "honker_ack(1, 'x')",
    "honker_ack_batch('[1]', 'x')",
    "honker_cancel('x', 1)",
    "honker_retry(1, 'w', 0, 'over')",
    "honker_fail(1, 'w', '')",
    "honker_sweep_expired('q')",
    "honker_result_save(1, '{}', 60)",
    "honker_result_get(1)",
    "honker_result_sweep()",
    "notify('c', '{}')",
    "honker_stream_publish('t', NULL, '{}')",
    "honker_stream_read_since('t', 0, 9)",
    "honker_stream_save_offset('c', 't', 1)",
    "honker_stream_get_offset('c', 't')",
    "honker_lock_acquire('l', 'me', 60)",
    "honker_lock_renew('l', 'me', 60)",
    "honker_lock_release('l', 'me')",
    "honker_rate_limit_try('r', 1, 60)",
    "honker_rate_limit_sweep(60)",
    "honker_scheduler_register('s', 'q', '@every 1s', '{}', 0, NULL)",
    "honker_scheduler_pause('s')",
    "honker_scheduler_resume('s')",
    "honker_scheduler_update('s', '@every 2s', NULL, NULL, NULL, 0)",
    "honker_scheduler_soonest()",
    "honker_scheduler_list()",
    "honker_scheduler_tick(4102444800)",
    "honker_scheduler_unregister('s')",
};

void expect_to_work(const extension_connection& connection)
{
    for (const char* const each : calls) {
        EXPECT_EQ(connection.refusal(std::string("SELECT ") + each), "") << each;
    }
    EXPECT_EQ(connection.value("SELECT last_error FROM _honker_dead"), "over");
    EXPECT_EQ(connection.value("SELECT count(*) FROM _honker_live"), "64");
}

/// The tables of the format beside the queue's, as other programs make them.
constexpr const char* plain_tables =
    "CREATE TABLE IF NOT EXISTS _honker_notifications (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " channel TEXT NOT NULL, payload TEXT NOT NULL, created_at INTEGER NOT NULL DEFAULT"
    " (unixepoch()));"
    "CREATE INDEX IF NOT EXISTS _honker_notifications_recent ON _honker_notifications (channel,"
    " id);"
    "CREATE TABLE _honker_locks (name TEXT PRIMARY KEY, owner TEXT NOT NULL, expires_at INTEGER"
    " NOT NULL);"
    "CREATE TABLE _honker_rate_limits (name TEXT NOT NULL, window_start INTEGER NOT NULL,"
    " count INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, window_start));"
    "CREATE TABLE _honker_scheduler_tasks (name TEXT PRIMARY KEY, queue TEXT NOT NULL, cron_expr"
    " TEXT NOT NULL, payload TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 0, expires_s"
    " INTEGER, next_fire_at INTEGER NOT NULL, enabled INTEGER NOT NULL DEFAULT 1, max_attempts"
    " INTEGER NOT NULL DEFAULT 3);"
    "CREATE TABLE _honker_stream (offset INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL,"
    " key TEXT, payload TEXT NOT NULL, created_at INTEGER NOT NULL DEFAULT (unixepoch()));"
    "CREATE INDEX _honker_stream_topic ON _honker_stream (topic, offset);"
    "CREATE TABLE _honker_stream_consumers (name TEXT NOT NULL, topic TEXT NOT NULL, offset"
    " INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, topic));";

void drop_all(const plain_connection& connection)
{
    for (const std::string& each :
         connection.sql("SELECT name FROM sqlite_schema WHERE type = 'table'"
                        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")) {
        connection.sql("DROP TABLE \"" + each + "\"");
    }
}

TEST_F(Files, MustHaveTheTables)
{
    for (const char* const each : calls) {
        const std::string refused = refusal(std::string("SELECT ") + each);
        if (std::string(each).starts_with("notify")) {
            EXPECT_EQ(refused, "");
        } else {
            EXPECT_THAT(refused, HasSubstr("no such table: _honker_")) << each;
        }
    }
    EXPECT_EQ(refusal("SELECT honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL)"),
              "no such table: _honker_live");
    sql("SELECT honker_bootstrap(); DELETE FROM _honker_notifications");
    expect_to_work(connection_);
}

TEST_F(Files, AreMadeOnce)
{
    EXPECT_EQ(value("SELECT honker_bootstrap()"), "1");
    const auto made = sql("SELECT sql FROM sqlite_schema");
    EXPECT_EQ(value("SELECT honker_bootstrap()"), "1");
    EXPECT_EQ(sql("SELECT sql FROM sqlite_schema"), made);
    EXPECT_THAT(sql("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE"
                    " '\\_honker\\_%' ESCAPE '\\' ORDER BY name"),
                ElementsAre("_honker_dead", "_honker_live", "_honker_locks",
                            "_honker_notifications", "_honker_rate_limits", "_honker_results",
                            "_honker_scheduler_tasks", "_honker_stream",
                            "_honker_stream_consumers"));
}

TEST_F(Files, ThatAreCompleteNeedNoLock)
{
    sql("PRAGMA journal_mode = wal; SELECT honker_bootstrap()");
    const plain_connection other(path_);
    other.sql("BEGIN IMMEDIATE");
    sqlite3_busy_timeout(connection_.handle(), 0);
    EXPECT_EQ(value("SELECT honker_bootstrap()"), "1");
    EXPECT_EQ(extension_connection(path_).value("SELECT honker_bootstrap()"), "1");
}

TEST_F(Files, ThatAreIncompleteAreToldLockedWhenTheyAre)
{
    sql("PRAGMA journal_mode = wal");
    const plain_connection other(path_);
    other.sql("BEGIN IMMEDIATE");
    sqlite3_busy_timeout(connection_.handle(), 0);
    EXPECT_EQ(refusal("SELECT honker_bootstrap()"), "database is locked");
    EXPECT_EQ(sqlite3_extended_errcode(connection_.handle()), SQLITE_BUSY);
    EXPECT_NE(sqlite3_get_autocommit(connection_.handle()), 0);
    other.sql("ROLLBACK");
    EXPECT_EQ(value("SELECT honker_bootstrap()"), "1");
}

TEST_F(Files, AreMadeInsideTheTransactionOfTheCaller)
{
    for (const char* const begin : {"BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT mine"}) {
        sql(begin);
        EXPECT_EQ(value("SELECT honker_bootstrap()"), "1");
        expect_to_work(connection_);
        EXPECT_EQ(sqlite3_get_autocommit(connection_.handle()), 0);
        sql("ROLLBACK");
        EXPECT_EQ(refusal("SELECT honker_get_job(1)"), "no such table: _honker_live");
    }
    EXPECT_EQ(value("SELECT honker_bootstrap()"), "1");
    expect_to_work(connection_);
}

TEST_F(Files, MayLoseTheirTablesBetweenCalls)
{
    for (int i = 0; i < 2; ++i) {
        sql("SELECT honker_bootstrap()");
        expect_to_work(connection_);
        // Nothing is left over from one file in the next one.
        drop_all(connection_);
        create_queue_format(connection_, queue_format::newest);
        sql(plain_tables);
        expect_to_work(connection_);
        drop_all(connection_);
    }
}

TEST_F(Files, MayBeMadeByAProgramThatHasNoAdditions)
{
    create_queue_format(connection_, queue_format::newest);
    sql(plain_tables);
    expect_to_work(connection_);
    sql("INSERT INTO _honker_locks VALUES ('l', 'me', unixepoch() + 99)");
    EXPECT_EQ(value("SELECT skein_lock_holder('l') ->> 'fence'"), "NULL");
    EXPECT_THAT(refusal("SELECT skein_scheduler_add('s', 'q', '@every 1s', '{}', '{\"runs\":1}')"),
                HasSubstr("_skein_schedules"));
    EXPECT_EQ(value("SELECT honker_bootstrap()"), "1");
    EXPECT_NE(value("SELECT skein_lock_holder('l') ->> 'fence'"), "NULL");
    EXPECT_EQ(refusal("SELECT skein_scheduler_add('s', 'q', '@every 1s', '{}', '{\"runs\":1}')"),
              "");
}

TEST_F(Files, MayBeMadeByAnotherConnection)
{
    EXPECT_NE(refusal("SELECT honker_scheduler_soonest()"), "");
    EXPECT_NE(refusal("SELECT honker_get_job(1)"), "");
    extension_connection(path_).sql("SELECT honker_bootstrap()");
    expect_to_work(connection_);
}

TEST_F(Files, OfOlderProgramsAreUpgraded)
{
    for (const queue_format format :
         {queue_format::without_claimed_at, queue_format::without_scheduled}) {
        drop_all(connection_);
        create_queue_format(connection_, format);
        sql("CREATE TABLE _honker_scheduler_tasks (name TEXT PRIMARY KEY, queue TEXT NOT NULL,"
            " cron_expr TEXT NOT NULL, payload TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 0,"
            " expires_s INTEGER, next_fire_at INTEGER NOT NULL);"
            "INSERT INTO _honker_scheduler_tasks VALUES ('s', 'q', '@every 1s', '{}', 0, NULL,"
            " 4102444800);"
            "INSERT INTO _honker_live (id, queue, payload, run_at, attempts, max_attempts) VALUES"
            " (1, 'q', '1', 4102444800, 0, 3), (2, 'q', '2', 1, 0, 3), (3, 'q', '3', 1, 3, 3),"
            " (4, 'q', '4', 4102444800, 0, 0);"
            "INSERT INTO _honker_live (id, queue, payload, state, run_at, attempts, worker_id,"
            " claim_expires_at) VALUES (5, 'q', '5', 'processing', 1, 3, 'w', 2),"
            " (6, 'q', '6', 'processing', 1, 1, 'w', 4102444800)");
        EXPECT_EQ(value("SELECT honker_bootstrap()"), "1");
        EXPECT_THAT(sql("SELECT id, state, attempts, worker_id, claimed_at FROM _honker_live"
                        " ORDER BY id"),
                    ElementsAre("1|scheduled|0|NULL|NULL", "2|pending|0|NULL|NULL",
                                "5|processing|3|w|NULL", "6|processing|1|w|NULL"));
        EXPECT_THAT(sql("SELECT id, last_error FROM _honker_dead ORDER BY id"),
                    ElementsAre("3|max attempts exceeded", "4|max attempts exceeded"));
        EXPECT_THAT(sql("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name ="
                        " '_honker_live' AND sql IS NOT NULL ORDER BY name"),
                    ElementsAre("_honker_live_expiry", "_honker_live_processing_deadline",
                                "_honker_live_ready", "_honker_live_scheduled"));
        EXPECT_EQ(value("SELECT enabled, max_attempts FROM _honker_scheduler_tasks"), "1|3");
        EXPECT_EQ(value("SELECT json_array_length(honker_claim_batch('q', 'w', 9, 60))"), "1");
        // The older program starts once more.
        create_queue_format(connection_, format);
        sql("INSERT INTO _honker_live (id, queue, payload, run_at) VALUES (9, 'q', '1',"
            " 4102444800); SELECT honker_bootstrap()");
        EXPECT_EQ(value("SELECT state FROM _honker_live WHERE id = 9"), "scheduled");
    }
}

TEST_F(Files, MayBeReadOnly)
{
    sql("SELECT honker_bootstrap(); SELECT honker_enqueue('q', '{}', 1, NULL, 0, 3, NULL);"
        "SELECT honker_lock_acquire('l', 'me', 60); SELECT honker_result_save(1, '7', 0)");
    const extension_connection reading("file:" + path_.string() + "?mode=ro");
    EXPECT_EQ(reading.value("SELECT honker_bootstrap()"), "1");
    EXPECT_EQ(reading.value("SELECT honker_get_job(1) ->> 'state'"), "pending");
    EXPECT_NE(reading.value("SELECT honker_queue_next_claim_at('q')"), "0");
    EXPECT_EQ(reading.value("SELECT honker_result_get(1)"), "7");
    EXPECT_EQ(reading.value("SELECT honker_scheduler_list()"), "[]");
    EXPECT_EQ(reading.value("SELECT skein_lock_holder('l') ->> 'owner'"), "me");
    for (const char* const writing :
         {"honker_claim_batch('q', 'w', 1, 60)", "notify('c', '{}')", "honker_cancel(1)",
          "honker_scheduler_tick(1)", "honker_lock_acquire('l', 'o', 1)"}) {
        EXPECT_EQ(reading.refusal(std::string("SELECT ") + writing),
                  "attempt to write a readonly database");
        EXPECT_EQ(sqlite3_extended_errcode(reading.handle()), SQLITE_ERROR);
        EXPECT_NE(sqlite3_get_autocommit(reading.handle()), 0);
    }
}

TEST_F(Files, MayBeInMemory)
{
    const extension_connection memory(":memory:");
    memory.sql("SELECT honker_bootstrap()");
    expect_to_work(memory);
}

TEST_F(Files, MayBeInAnyJournalMode)
{
    for (const char* const mode : {"delete", "truncate", "persist", "memory", "wal", "off"}) {
        const extension_connection connection(directory_ / mode);
        connection.sql("PRAGMA journal_mode = " + std::string(mode) +
                       "; SELECT honker_bootstrap()");
        expect_to_work(connection);
        EXPECT_EQ(connection.value("PRAGMA integrity_check"), "ok");
    }
}

TEST_F(Files, MayBeInUtf16)
{
    for (const char* const encoding : {"UTF-16le", "UTF-16be"}) {
        const std::filesystem::path path = directory_ / encoding;
        plain_connection(path).sql("PRAGMA encoding = '" + std::string(encoding) +
                                   "'; CREATE TABLE t (v)");
        const extension_connection connection(path);
        connection.sql("SELECT honker_bootstrap()");
        EXPECT_EQ(connection.value("PRAGMA encoding"), encoding);
        expect_to_work(connection);
        connection.sql("SELECT honker_enqueue('q\u00e9\U0001F600', '\"\u00e9\U0001F600\"', NULL,"
                       " NULL, 9, 3, NULL)");
        EXPECT_EQ(connection.value("SELECT honker_claim_batch('q\u00e9\U0001F600',"
                                   " 'w\u00e9', 1, 60) ->> '$[0].payload'"),
                  "\"\u00e9\U0001F600\"");
        EXPECT_EQ(connection.value("SELECT worker_id FROM _honker_live WHERE priority = 9"),
                  "w\u00e9");
        EXPECT_THAT(connection.refusal("SELECT notify('c', 'no json')"), HasSubstr("valid JSON"));
        EXPECT_EQ(connection.value("SELECT honker_ack(id, 'w\u00e9') FROM _honker_live"
                                   " WHERE priority = 9"),
                  "1");
    }
}

} // namespace
