#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;
using ::testing::ElementsAre;

using JobFunctions = contract_fixture;

TEST_F(JobFunctions, EnqueueWhatIsDueOrScheduled)
{
    EXPECT_EQ(call("honker_enqueue('q', '{}', NULL, NULL, 0, 3, NULL)"), "1");
    EXPECT_EQ(call("honker_enqueue('q', '{}', 1001, NULL, 0, 3, NULL)"), "2");
    EXPECT_EQ(call("honker_enqueue('q', '{}', 500, NULL, 0, 3, NULL)"), "3");
    EXPECT_EQ(call("honker_enqueue('q', '{}', 500, 7, 5, 9, -3)"), "4"); // the delay wins
    EXPECT_EQ(call("honker_enqueue('q', '{}', 5000, -7, 0, 3, 0)"), "5");
    EXPECT_THAT(
        sql("SELECT state, run_at, priority, max_attempts, expires_at, attempts, worker_id,"
            " claimed_at FROM _honker_live ORDER BY id"),
        ElementsAre("pending|1000|0|3|NULL|0|NULL|NULL", "scheduled|1001|0|3|NULL|0|NULL|NULL",
                    "pending|500|0|3|NULL|0|NULL|NULL", "scheduled|1007|5|9|997|0|NULL|NULL",
                    "pending|993|0|3|1000|0|NULL|NULL"));
    EXPECT_EQ(value("SELECT count(*) FROM _honker_notifications"), "0");
}

TEST_F(JobFunctions, RefuseJobsThatCouldNeverRun)
{
    for (const char* const attempts : {"0", "-1", "-9223372036854775808"}) {
        EXPECT_EQ(refusal_of("honker_enqueue('q', '{}', NULL, NULL, 0, " + std::string(attempts) +
                             ", NULL)"),
                  "honker_enqueue: max_attempts must be at least 1, got " + std::string(attempts));
    }
}

TEST_F(JobFunctions, ClaimInTheOrderOfPriorityTimeAndNumber)
{
    enqueue("q", "0, 3, NULL");
    enqueue("q", "5, 3, NULL");
    call("honker_enqueue('q', '{}', 900, NULL, 0, 3, NULL)");
    enqueue("q", "5, 3, NULL");
    const std::string claimed = claim("q", 9);
    EXPECT_THAT(each(claimed, "id"), ElementsAre("2", "4", "3", "1"));
    EXPECT_EQ(claim("q", 9), "[]");
    // Lapsed leases and ready jobs come in one order.
    enqueue("q", "3, 3, NULL");
    now_ = 1061;
    EXPECT_THAT(each(claim("q", 9), "id"), ElementsAre("2", "4", "5", "3", "1"));
}

TEST_F(JobFunctions, WriteJsonWithSortedKeys)
{
    enqueue("q", "2, 3, 50");
    EXPECT_EQ(call("honker_get_job(1)"),
              "{\"attempts\":0,\"claim_expires_at\":null,\"claimed_at\":null,\"created_at\":1000,"
              "\"expires_at\":1050,\"id\":1,\"max_attempts\":3,\"payload\":\"{}\",\"priority\":2,"
              "\"queue\":\"q\",\"run_at\":1000,\"state\":\"pending\",\"worker_id\":null}");
    EXPECT_EQ(claim("q"), "[{\"attempts\":1,\"claim_expires_at\":1060,\"claimed_at\":1000,\"id\":1,"
                          "\"payload\":\"{}\",\"queue\":\"q\",\"worker_id\":\"w\"}]");
    EXPECT_EQ(call("honker_get_job(1)"),
              "{\"attempts\":1,\"claim_expires_at\":1060,\"claimed_at\":1000,\"created_at\":1000,"
              "\"expires_at\":1050,\"id\":1,\"max_attempts\":3,\"payload\":\"{}\",\"priority\":2,"
              "\"queue\":\"q\",\"run_at\":1000,\"state\":\"processing\",\"worker_id\":\"w\"}");
    EXPECT_EQ(call("typeof(honker_get_job(7)) || honker_get_job(7)"), "text");
    call("honker_fail(1, 'w', '')");
    EXPECT_EQ(call("honker_get_job(1)"), "");
}

TEST_F(JobFunctions, EscapeInJsonOnlyWhatMustBe)
{
    call("honker_enqueue('/\u2028\u00e9', '\"/\u2028\u00e9\\n\\u0001\"', NULL, NULL, 0, 3, NULL)");
    EXPECT_EQ(call("honker_claim_batch('/\u2028\u00e9', char(8,9,10,12,13,1,31,127) || '\"\\', 1,"
                   " 60)"),
              "[{\"attempts\":1,\"claim_expires_at\":1060,\"claimed_at\":1000,\"id\":1,\"payload\":"
              "\"\\\"/\u2028\u00e9\\\\n\\\\u0001\\\"\",\"queue\":\"/\u2028\u00e9\",\"worker_id\":"
              "\"\\b\\t\\n\\f\\r\\u0001\\u001f\x7f\\\"\\\\\"}]");
}

TEST_F(JobFunctions, ClaimNoneOrAll)
{
    for (int i = 0; i < 5; ++i) {
        enqueue("q");
    }
    EXPECT_EQ(claim("q", 0), "[]");
    EXPECT_EQ(each(claim("q", 2), "id").size(), 2U);
    EXPECT_EQ(each(claim("q", -1), "id").size(), 3U);
    EXPECT_EQ(claim("none", -1), "[]");
}

TEST_F(JobFunctions, ClaimForNoTimeOrLess)
{
    enqueue("q");
    EXPECT_EQ(call("honker_claim_batch('q', 'w', 1, 0) ->> '$[0].claim_expires_at'"), "1000");
    EXPECT_EQ(claim("q"), "[]"); // the lease is valid in its last second
    call("honker_heartbeat(1, 'w', -5)");
    EXPECT_EQ(call("honker_claim_batch('q', 'w', 1, -1) ->> '$[0].attempts'"), "2");
    EXPECT_EQ(call("honker_claim_batch('q', 'w', 1, 60) ->> '$[0].attempts'"), "3");
}

TEST_F(JobFunctions, KeepHouseBeforeAClaim)
{
    call("honker_enqueue('q', '1', 1005, NULL, 0, 3, NULL)"); // becomes due
    enqueue("q", "0, 3, 3");                                  // expires
    call("honker_enqueue('q', '3', 9000, NULL, 0, 3, 3)");    // expires before it is due
    enqueue("q", "9, 1, NULL");                               // is exhausted
    enqueue("q", "8, 3, 2");                                  // expires in hand
    EXPECT_THAT(each(claim("q", 2), "id"), ElementsAre("4", "5"));
    now_ = 1061;
    EXPECT_THAT(each(claim("q", 9), "id"), ElementsAre("1"));
    EXPECT_THAT(sql("SELECT id, last_error, died_at FROM _honker_dead ORDER BY id"),
                ElementsAre("2|expired|1061", "3|expired|1061", "4|max attempts exceeded|1061",
                            "5|expired|1061"));
}

TEST_F(JobFunctions, DoNotClaimWhatIsPendingForLater)
{
    sql("INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', '{}', 1010)");
    EXPECT_EQ(claim("q"), "[]");
    EXPECT_EQ(call("honker_queue_next_claim_at('q')"), "1010");
    now_ = 1010;
    EXPECT_THAT(each(claim("q"), "id"), ElementsAre("1"));
}

TEST_F(JobFunctions, ForecastTheNextClaim)
{
    const auto next = [&] { return call("honker_queue_next_claim_at('q')"); };
    EXPECT_EQ(next(), "0");
    call("honker_enqueue('q', '{}', 1050, NULL, 0, 3, NULL)");
    EXPECT_EQ(next(), "1050");
    enqueue("q");
    EXPECT_EQ(next(), "1000");
    call("honker_claim_batch('q', 'w', 1, 20)");
    EXPECT_EQ(next(), "1021");
    now_ = 1021;
    EXPECT_EQ(next(), "1021");
    now_ = 1500;
    EXPECT_EQ(next(), "1500");
    sql("DELETE FROM _honker_live");
    enqueue("q", "0, 1, NULL");
    claim("q");
    EXPECT_EQ(next(), "0"); // only an exhausted lease
    sql("DELETE FROM _honker_live");
    enqueue("q", "0, 3, 0");
    call("honker_enqueue('q', '{}', NULL, 50, 0, 3, 0)");
    EXPECT_EQ(next(), "0"); // expired ones
}

TEST_F(JobFunctions, SweepWhatHasExpired)
{
    enqueue("q", "0, 3, 10");
    enqueue("q", "0, 3, 10");
    call("honker_enqueue('q', '{}', NULL, 90, 0, 3, 10)");
    enqueue("other", "0, 3, 10");
    enqueue("q");
    call("honker_claim_batch('q', 'w', 1, 20)");
    EXPECT_EQ(call("honker_sweep_expired('q')"), "0");
    now_ = 1010;
    EXPECT_EQ(call("honker_sweep_expired('q')"), "2");
    now_ = 1021;
    EXPECT_EQ(call("honker_sweep_expired('q')"), "1");
    EXPECT_THAT(sql("SELECT id, last_error, died_at FROM _honker_dead ORDER BY id"),
                ElementsAre("1|expired|1021", "2|expired|1010", "3|expired|1010"));
}

TEST_F(JobFunctions, WriteNoPageInAnIdleClaimOrTick)
{
    sql("PRAGMA journal_mode = wal");
    enqueue("busy");
    claim("busy");
    const skein::support::plain_connection watching(path_);
    const std::string before = watching.value("PRAGMA data_version");
    for (const char* const idle :
         {"honker_claim_batch('q', 'w', 9, 60)", "honker_claim_batch('busy', 'w', 9, 60)",
          "honker_scheduler_tick(1000)", "honker_sweep_expired('q')", "honker_ack(9, 'w')",
          "honker_bootstrap()"}) {
        call(idle);
        EXPECT_EQ(watching.value("PRAGMA data_version"), before) << idle;
    }
}

TEST_F(JobFunctions, TellOfBrokenTables)
{
    enqueue("q");
    claim("q");
    sql("ALTER TABLE _honker_dead RENAME TO gone");
    for (const char* const each : {"honker_fail(1, 'w', '')", "skein_dead_letters('q', 1)"}) {
        EXPECT_EQ(refusal_of(each), "no such table: _honker_dead");
    }
    EXPECT_EQ(value("SELECT state FROM _honker_live"), "processing");
    sql("ALTER TABLE gone RENAME TO _honker_dead");
    EXPECT_EQ(call("honker_fail(1, 'w', '')"), "1");
}

} // namespace
