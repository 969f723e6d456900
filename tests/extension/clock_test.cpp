#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;

using Clock = contract_fixture;

TEST_F(Clock, IsTheOneOfSql)
{
    now_ = 5000;
    enqueue("q", "0, 3, 10");
    EXPECT_EQ(value("SELECT run_at, created_at, expires_at FROM _honker_live"), "5000|5000|5010");
    now_ = 5001;
    claim("q");
    EXPECT_EQ(value("SELECT claimed_at, claim_expires_at FROM _honker_live"), "5001|5061");
    call("honker_fail(1, 'w', '')");
    EXPECT_EQ(value("SELECT died_at, created_at FROM _honker_dead"), "5001|5000");
    call("notify('c', '{}')");
    EXPECT_EQ(value("SELECT created_at FROM _honker_notifications"), "5001");
    call("honker_stream_publish('t', NULL, '{}')");
    EXPECT_EQ(value("SELECT created_at FROM _honker_stream"), "5001");
    call("honker_result_save(1, '{}', 9)");
    EXPECT_EQ(value("SELECT created_at, expires_at FROM _honker_results"), "5001|5010");
    call("honker_lock_acquire('l', 'o', 9)");
    EXPECT_EQ(value("SELECT expires_at FROM _honker_locks"), "5010");
    call("honker_rate_limit_try('r', 1, 1000)");
    EXPECT_EQ(value("SELECT window_start FROM _honker_rate_limits"), "5000");
    call("honker_scheduler_register('s', 'q', '@every 7s', '{}', 0, NULL)");
    EXPECT_EQ(call("honker_scheduler_soonest()"), "5008");
}

TEST_F(Clock, IsReadOnceForACall)
{
    for (int i = 0; i < 3; ++i) {
        enqueue("q", "0, 1, NULL");
    }
    enqueue("old", "0, 3, 0");
    call("honker_scheduler_register('s', 'q', '@every 1s', '{}', 0, 5)");
    for (const char* const each : {"honker_enqueue('q', '{}', NULL, 5, 0, 3, 5)",
                                   "honker_claim_batch('q', 'w', 2, 60)",
                                   "honker_queue_next_claim_at('q')",
                                   "honker_retry(1, 'w', 0, '')",
                                   "honker_fail(2, 'w', '')",
                                   "honker_sweep_expired('old')",
                                   "honker_ack(3, 'w')",
                                   "honker_heartbeat(3, 'w', 1)",
                                   "honker_ack_batch('[3]', 'w')",
                                   "honker_scheduler_tick(2000)",
                                   "honker_lock_acquire('l', 'o', 1)",
                                   "honker_lock_renew('l', 'o', 1)",
                                   "honker_rate_limit_try('r', 1, 1)",
                                   "honker_rate_limit_sweep(1)",
                                   "honker_result_save(1, '1', 1)",
                                   "honker_result_get(1)",
                                   "honker_result_sweep()",
                                   "notify('c', '1')",
                                   "honker_stream_publish('t', NULL, '1')",
                                   "honker_scheduler_register('u', 'q', '@every 1s', '1', 0, 1)",
                                   "skein_queues()",
                                   "skein_dead_letter_redrive_all('q')",
                                   "skein_rate_limit_try_paced('r', 1, 1, 1)"}) {
        clock_reads_ = 0;
        call(each);
        EXPECT_EQ(clock_reads_, 1) << each;
    }
}

TEST_F(Clock, IsNotReadByWhatNeedsNone)
{
    enqueue("q");
    clock_reads_ = 0;
    for (const char* const each :
         {"honker_cancel(1)", "honker_get_job(1)", "honker_lock_release('l', 'o')",
          "honker_stream_read_since('t', 0, 1)", "honker_scheduler_list()",
          "honker_cron_next_after('@every 1s', 0)"}) {
        call(each);
    }
    EXPECT_EQ(clock_reads_, 0);
}

TEST_F(Clock, MayBeAtTheEndOfTime)
{
    now_ = 9223372036854775807;
    enqueue("q", "0, 3, 9223372036854775807");
    EXPECT_EQ(call("honker_enqueue('q', '{}', NULL, 9223372036854775807, 0, 3, NULL)"), "2");
    EXPECT_EQ(value("SELECT min(run_at), max(run_at), max(expires_at) FROM _honker_live"),
              "9223372036854775807|9223372036854775807|9223372036854775807");
    now_ = 1000;
    EXPECT_EQ(claim("q"), "[]");
    EXPECT_EQ(call("honker_enqueue('r', '{}', NULL, 9223372036854775807, 0, 3, NULL)"), "3");
    EXPECT_EQ(claim("r"), "[]");
    EXPECT_EQ(value("SELECT state, run_at FROM _honker_live WHERE id = 3"),
              "scheduled|9223372036854775807");
    EXPECT_EQ(call("honker_lock_acquire('l', 'o', 9223372036854775807)"), "1");
    EXPECT_EQ(call("honker_lock_acquire('l', 'other', 1)"), "0");
    EXPECT_EQ(call("honker_result_save(1, '1', 9223372036854775807)"), "1");
    EXPECT_EQ(call("honker_result_get(1)"), "1");
}

} // namespace
