#include "extension/contract_fixture.hpp"

#include <cctype>

namespace {

using skein::support::contract_fixture;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Functions = contract_fixture;

TEST_F(Functions, AreThoseOfTheContractAndOurs)
{
    EXPECT_THAT(
        sql("SELECT name || ' ' || group_concat(narg, ' ') FROM"
            " (SELECT name, narg FROM pragma_function_list WHERE name LIKE 'honker\\_%' ESCAPE '\\'"
            " OR name = 'notify' ORDER BY name, narg) GROUP BY name ORDER BY name"),
        ElementsAre(
            "honker_ack 2 3", "honker_ack_batch 2", "honker_bootstrap 0", "honker_cancel 1 2",
            "honker_claim_batch 4", "honker_cron_next_after 2", "honker_enqueue 7",
            "honker_fail 3 4", "honker_get_job 1", "honker_heartbeat 3 4", "honker_lock_acquire 3",
            "honker_lock_release 2", "honker_lock_renew 3", "honker_queue_next_claim_at 1",
            "honker_rate_limit_sweep 1", "honker_rate_limit_try 3", "honker_result_get 1",
            "honker_result_save 3", "honker_result_sweep 0", "honker_retry 4 5",
            "honker_scheduler_list 0", "honker_scheduler_pause 1", "honker_scheduler_register 6 7",
            "honker_scheduler_resume 1", "honker_scheduler_soonest 0", "honker_scheduler_tick 1",
            "honker_scheduler_unregister 1", "honker_scheduler_update 6 8",
            "honker_stream_get_offset 2", "honker_stream_publish 3", "honker_stream_read_since 3",
            "honker_stream_save_offset 3", "honker_sweep_expired 1",
            "honker_update_watcher_close 1", "honker_update_watcher_open 2 3",
            "honker_update_watcher_wait 2", "notify 2"));
    EXPECT_THAT(
        sql("SELECT name || ' ' || group_concat(narg, ' ') FROM"
            " (SELECT name, narg FROM pragma_function_list WHERE name LIKE 'skein\\_%' ESCAPE '\\'"
            " ORDER BY name, narg) GROUP BY name ORDER BY name"),
        ElementsAre("skein_dead_letter_prune 3", "skein_dead_letter_redrive 2",
                    "skein_dead_letter_redrive_all 1", "skein_dead_letters 2", "skein_enqueue 3",
                    "skein_heartbeat 4", "skein_job_change 4", "skein_job_request_stop 2",
                    "skein_lock_holder 1", "skein_notification_prune 2", "skein_queue_counts 1",
                    "skein_queue_is_paused 1", "skein_queue_pause 1", "skein_queue_resume 1",
                    "skein_queues 0", "skein_rate_limit_try_paced 4", "skein_release 3",
                    "skein_result_prune 2", "skein_scheduler_add 5", "skein_scheduler_change 4",
                    "skein_scheduler_find 1", "skein_snooze 4", "skein_stream_consumers 1",
                    "skein_stream_forget_consumer 2", "skein_stream_trim 3",
                    "skein_stream_trim_passed 1"));
}

TEST_F(Functions, AreScalarsThatSchemasMayCallWhenTheyAreTrusted)
{
    EXPECT_THAT(sql("SELECT DISTINCT type, enc, flags, builtin FROM pragma_function_list"
                    " WHERE name LIKE 'honker\\_%' ESCAPE '\\' OR name = 'notify'"
                    " OR name LIKE 'skein\\_%' ESCAPE '\\'"),
                ElementsAre("s|utf8|0|0"));
}

TEST_F(Functions, HaveNoOtherNumbersOfArguments)
{
    EXPECT_THAT(refusal_of("honker_enqueue('q', '{}')"),
                HasSubstr("wrong number of arguments to function honker_enqueue()"));
    EXPECT_THAT(refusal_of("honker_bootstrap(1)"),
                HasSubstr("wrong number of arguments to function honker_bootstrap()"));
    EXPECT_EQ(call("EXISTS (SELECT 1 FROM pragma_function_list WHERE name = 'honker_cancel'"
                   " AND narg = 2)"),
              "1");
}

TEST_F(Functions, AreCalledFromTriggersAndViews)
{
    sql("CREATE TABLE orders (v); CREATE TRIGGER t AFTER INSERT ON orders BEGIN"
        " SELECT honker_enqueue('q', NEW.v, NULL, NULL, 0, 3, NULL);"
        " SELECT notify('c', NEW.v); SELECT honker_stream_publish('t', NULL, NEW.v);"
        " SELECT honker_scheduler_register('s', 'q', '@every 1m', NEW.v, 0, NULL);"
        " SELECT skein_scheduler_add('o', 'q', '@every 1m', NEW.v, '{\"runs\":1}');"
        " SELECT honker_rate_limit_try('r', 1, 60);"
        " SELECT skein_rate_limit_try_paced('r', 1, 60, 1);"
        " SELECT honker_lock_acquire('l', 'me', 60); END;"
        "CREATE VIEW v AS SELECT honker_queue_next_claim_at('q') AS at");
    sql("INSERT INTO orders VALUES ('1'), ('2')");
    EXPECT_THAT(sql("SELECT payload FROM _honker_live"), ElementsAre("1", "2"));
    EXPECT_THAT(sql("SELECT payload FROM _honker_notifications"), ElementsAre("1", "2"));
    EXPECT_THAT(sql("SELECT payload FROM _honker_stream"), ElementsAre("1", "2"));
    EXPECT_THAT(sql("SELECT name, payload FROM _honker_scheduler_tasks UNION ALL"
                    " SELECT name, payload FROM _skein_schedules"),
                ElementsAre("s|2", "o|2"));
    EXPECT_EQ(value("SELECT count FROM _honker_rate_limits"), "1");
    EXPECT_EQ(value("SELECT at FROM v"), "1000");
    EXPECT_EQ(value("SELECT last_insert_rowid()"), "2");
}

TEST_F(Functions, AreUndoneWithTheStatementWhoseTriggerCallsThem)
{
    sql("CREATE TABLE orders (v); CREATE TRIGGER t AFTER INSERT ON orders BEGIN"
        " SELECT honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL); SELECT notify('c', NEW.v); "
        "END");
    EXPECT_THAT(refusal("INSERT INTO orders VALUES ('1'), ('no json')"),
                HasSubstr("payload must be valid JSON"));
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
    sql("BEGIN");
    EXPECT_NE(refusal("INSERT INTO orders VALUES ('1'), ('no json')"), "");
    sql("COMMIT");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
    EXPECT_EQ(value("SELECT count(*) FROM orders"), "0");
}

TEST_F(Functions, AreRefusedToSchemasThatAreNotTrusted)
{
    sql("CREATE TABLE orders (v); CREATE TRIGGER t AFTER INSERT ON orders BEGIN"
        " SELECT honker_enqueue('q', NEW.v, NULL, NULL, 0, 3, NULL); END;"
        "PRAGMA trusted_schema = off");
    EXPECT_THAT(refusal("INSERT INTO orders VALUES ('1')"),
                HasSubstr("unsafe use of honker_enqueue()"));
    EXPECT_EQ(enqueue("q"), "1");
}

TEST_F(Functions, MayBeCalledByTriggersOnTheirTables)
{
    sql("CREATE TRIGGER t AFTER INSERT ON _honker_live WHEN NEW.queue = 'a' BEGIN"
        " SELECT honker_enqueue('b', NEW.payload, NULL, NULL, 0, 3, NULL);"
        " SELECT notify('enqueued', CAST(NEW.id AS TEXT)); END");
    EXPECT_EQ(enqueue("a"), "1");
    EXPECT_EQ(enqueue("a"), "3");
    EXPECT_THAT(sql("SELECT queue FROM _honker_live"), ElementsAre("a", "b", "a", "b"));
    EXPECT_THAT(sql("SELECT payload FROM _honker_notifications"), ElementsAre("1", "3"));
}

TEST_F(Functions, AreRefusedWhatTheirTriggersAreRefused)
{
    sql("CREATE TRIGGER t AFTER INSERT ON _honker_live BEGIN SELECT notify('c', 'no json'); END");
    for (int i = 0; i < 2; ++i) {
        EXPECT_THAT(refusal_of("honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL)"),
                    HasSubstr("honker: payload must be valid JSON"));
    }
    EXPECT_FALSE(in_transaction());
    sql("DROP TRIGGER t");
    EXPECT_EQ(enqueue("q"), "1");
}

TEST_F(Functions, DoNotCallThemselvesForEver)
{
    sql("CREATE TRIGGER t AFTER INSERT ON _honker_live BEGIN"
        " SELECT honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL); END");
    EXPECT_THAT(refusal_of("honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL)"),
                HasSubstr("triggers call functions that fire triggers"));
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
}

TEST_F(Functions, KeepNulBytesAndLongNumbers)
{
    EXPECT_EQ(call("honker_enqueue(char(113, 0, 113), '\"\u00e9\"', NULL, NULL,"
                   " -9223372036854775808, 9223372036854775807, NULL)"),
              "1");
    EXPECT_EQ(value("SELECT hex(queue), priority, max_attempts FROM _honker_live"),
              "710071|-9223372036854775808|9223372036854775807");
    EXPECT_EQ(call("honker_claim_batch('q', 'w', 1, 60)"), "[]");
    EXPECT_EQ(
        call("honker_claim_batch(char(113, 0, 113), 'a' || char(0), 1, 60)"),
        "[{\"attempts\":1,\"claim_expires_at\":1060,\"claimed_at\":1000,\"id\":1,"
        "\"payload\":\"\\\"\u00e9\\\"\",\"queue\":\"q\\u0000q\",\"worker_id\":\"a\\u0000\"}]");
    EXPECT_EQ(call("honker_ack(1, 'a')"), "0");
    EXPECT_EQ(call("honker_ack(1, 'a' || char(0))"), "1");
    EXPECT_EQ(call("honker_stream_save_offset('c', 't', 9223372036854775807)"), "1");
    EXPECT_EQ(call("honker_stream_get_offset('c', 't')"), "9223372036854775807");
}

} // namespace
