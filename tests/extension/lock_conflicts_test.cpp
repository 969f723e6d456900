#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;
using skein::support::extension_connection;
using skein::support::plain_connection;
using ::testing::HasSubstr;

constexpr const char* writing[] = {
    "honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL)",
    "honker_claim_batch('q', 'w', 1, 60)",
    "honker_sweep_expired('q')",
    "honker_ack(1, 'w')",
    "honker_ack(1, 'w', 1)",
    "honker_ack_batch('[1]', 'w')",
    "honker_retry(1, 'w', 0, '')",
    "honker_fail(1, 'w', '')",
    "honker_heartbeat(1, 'w', 1)",
    "honker_cancel(1)",
    "honker_cancel('q', 1)",
    "notify('c', '{}')",
    "honker_stream_publish('t', NULL, '{}')",
    "honker_stream_save_offset('c', 't', 1)",
    "honker_lock_acquire('l', 'o', 60)",
    "honker_lock_renew('l', 'o', 60)",
    "honker_lock_release('l', 'o')",
    "honker_rate_limit_try('r', 1, 1)",
    "honker_rate_limit_sweep(1)",
    "honker_result_save(1, '{}', 0)",
    "honker_result_sweep()",
    "honker_scheduler_register('s', 'q', '@every 1m', '{}', 0, NULL)",
    "honker_scheduler_unregister('s')",
    "honker_scheduler_pause('s')",
    "honker_scheduler_resume('s')",
    "honker_scheduler_update('present', NULL, '{}', NULL, NULL, 0)",
    "honker_scheduler_tick(0)",
    "skein_dead_letter_redrive('q', 1)",
    "skein_dead_letter_redrive_all('q')",
    "skein_dead_letter_prune('q', 1, NULL)",
    "skein_notification_prune(1, NULL)",
    "skein_result_prune(1, NULL)",
    "skein_stream_trim('t', 1, NULL)",
    "skein_stream_trim_passed('t')",
    "skein_stream_forget_consumer('c', 't')",
    "skein_enqueue('q', '{}', '{\"unique_key\":\"u\",\"concurrency_key\":\"c\"}')",
    "skein_job_change('q', 1, '{}', '{}')",
    "skein_job_request_stop('q', 1)",
    "skein_queue_pause('q')",
    "skein_queue_resume('q')",
    "skein_heartbeat(1, 'w', 60, 1)",
    "skein_release(1, 'w', 1)",
    "skein_snooze(1, 'w', 1, 1)",
    "skein_scheduler_add('s', 'q', '@every 1m', '{}', '{\"runs\":1}')",
    "skein_scheduler_change('present', NULL, NULL, '{\"runs\":1}')",
    "skein_rate_limit_try_paced('r', 1, 1, 1)",
};

class LockConflicts : public contract_fixture {
protected:
    LockConflicts()
    {
        sql("PRAGMA journal_mode = wal; CREATE TABLE t (v);"
            "SELECT honker_scheduler_register('present', 'q', '@every 1m', '{}', 0, NULL)");
        sqlite3_busy_timeout(connection_.handle(), 0);
    }

    plain_connection other_{path_};
};

TEST_F(LockConflicts, AreToldAsSuch)
{
    other_.sql("BEGIN IMMEDIATE");
    for (const char* const each : writing) {
        EXPECT_EQ(code_of(std::string("SELECT ") + each), SQLITE_BUSY) << each;
        EXPECT_STREQ(sqlite3_errmsg(connection_.handle()), "database is locked");
        EXPECT_FALSE(in_transaction()) << each;
    }
    other_.sql("ROLLBACK");
    for (const char* const each : writing) {
        EXPECT_EQ(refusal_of(each), "") << each;
    }
}

TEST_F(LockConflicts, OfAStaleReaderKeepTheirExtendedCode)
{
    sql("BEGIN; SELECT count(*) FROM t");
    other_.sql("INSERT INTO t VALUES (1)");
    for (const char* const each : writing) {
        EXPECT_EQ(code_of(std::string("SELECT ") + each), SQLITE_BUSY_SNAPSHOT) << each;
        EXPECT_STREQ(sqlite3_errmsg(connection_.handle()), "database is locked");
        EXPECT_TRUE(in_transaction()) << each;
    }
    EXPECT_EQ(value("SELECT count(*) FROM t"), "0");
    sql("COMMIT");
}

TEST_F(LockConflicts, AreWaitedForWhenTheCallIsTheFirstOfATransaction)
{
    other_.sql("BEGIN IMMEDIATE");
    for (const char* const each : writing) {
        // A connection that has nothing prepared yet; SQLite asks it to wait, or does not.
        const extension_connection fresh(path_);
        int asked = 0;
        sqlite3_busy_handler(
            fresh.handle(), [](void* count, int) { return ++*static_cast<int*>(count), 0; },
            &asked);
        fresh.sql("BEGIN");
        EXPECT_THAT(fresh.refusal(std::string("SELECT ") + each), HasSubstr("database is locked"));
        EXPECT_EQ(asked, 1) << each;
    }
}

TEST_F(LockConflicts, OfReadersThatKeepACommitBack)
{
    sql("PRAGMA journal_mode = delete");
    enqueue("q");
    const auto before = all_rows();
    other_.sql("BEGIN; SELECT count(*) FROM _honker_live");
    for (const char* const each :
         {"honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL)",
          "honker_claim_batch('q', 'w', 1, 60)", "honker_cancel(1)", "honker_scheduler_tick(1060)",
          "honker_scheduler_update('present', NULL, '1', NULL, NULL, 0)",
          "honker_lock_acquire('l', 'o', 60)", "skein_rate_limit_try_paced('r', 1, 1, 1)"}) {
        EXPECT_EQ(code_of(std::string("SELECT ") + each), SQLITE_BUSY) << each;
        EXPECT_FALSE(in_transaction()) << each;
    }
    other_.sql("COMMIT");
    EXPECT_EQ(all_rows(), before);
    EXPECT_THAT(claim("q"), HasSubstr("\"id\":1"));
}

TEST_F(LockConflicts, AreNotWhatOtherErrorsAreToldAs)
{
    sql("CREATE TRIGGER no BEFORE INSERT ON _honker_live BEGIN SELECT raise(ABORT, 'no'); END");
    EXPECT_EQ(code_of("SELECT honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL)"), SQLITE_ERROR);
    EXPECT_EQ(code_of("SELECT honker_ack_batch('[', 'w')"), SQLITE_ERROR);
    EXPECT_STREQ(sqlite3_errmsg(connection_.handle()), "malformed JSON");
    sql("PRAGMA query_only = on");
    EXPECT_EQ(code_of("SELECT honker_cancel(1)"), SQLITE_ERROR);
    EXPECT_THAT(sqlite3_errmsg(connection_.handle()), HasSubstr("readonly database"));
    EXPECT_EQ(code_of("SELECT honker_claim_batch('q', 'w', 1, 60)"), SQLITE_ERROR);
    EXPECT_FALSE(in_transaction());
}

} // namespace
