#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;

class JobEndFunctions : public contract_fixture {
protected:
    std::string dead(const std::string& columns = "id, last_error") const
    {
        return value("SELECT " + columns + " FROM _honker_dead");
    }

    std::string live(const std::string& columns, const std::string& id) const
    {
        return value("SELECT " + columns + " FROM _honker_live WHERE id = " + id);
    }
};

TEST_F(JobEndFunctions, AckWhatIsHeld)
{
    enqueue("q");
    enqueue("q");
    claim("q", 2);
    EXPECT_EQ(call("honker_ack(1, 'other')"), "0");
    EXPECT_EQ(call("honker_ack(1, 'w', 2)"), "0");
    now_ = 1060;
    EXPECT_EQ(call("honker_ack(1, 'w')"), "1");
    EXPECT_EQ(call("honker_ack(1, 'w')"), "0");
    now_ = 1061; // the lease has lapsed
    EXPECT_EQ(call("honker_ack(2, 'w')"), "0");
    EXPECT_EQ(call("honker_ack(2, 'w', 1)"), "1");
    enqueue("q");
    EXPECT_EQ(call("honker_ack(3, 'w', 0)"), "0"); // nobody has claimed it
}

TEST_F(JobEndFunctions, AckLists)
{
    struct example {
        const char* list;
        const char* acked;
    };
    for (const example& each : {example{"[1,2,3]", "3"},
                                {"[]", "0"},
                                {"2", "1"},
                                {"[2,2,2]", "1"},
                                {"[\"2\"]", "1"},
                                {"[3.0]", "1"},
                                {"[true]", "1"},
                                {"[null,{}]", "0"},
                                {"{\"a\":1,\"b\":2}", "2"},
                                {"[[1,1],[2,9]]", "1"},
                                {"[[1,1],2,3]", "3"},
                                {"[[1],[2,1,1],[]]", "0"},
                                {"[\"x\",-1]", "0"},
                                {"[false]", "0"},
                                {"\"3\"", "1"},
                                {"null", "0"},
                                {"[1.5]", "0"}}) {
        sql("DELETE FROM _honker_live; DELETE FROM sqlite_sequence");
        for (int i = 0; i < 3; ++i) {
            enqueue("q");
        }
        claim("q", 3);
        EXPECT_EQ(call("honker_ack_batch('" + std::string(each.list) + "', 'w')"), each.acked)
            << each.list;
        EXPECT_EQ(value("SELECT 3 - count(*) FROM _honker_live"), each.acked);
    }
    for (const char* const list : {"", "[", "[1,]", "nonsense"}) {
        EXPECT_EQ(refusal_of("honker_ack_batch('" + std::string(list) + "', 'w')"),
                  "malformed JSON");
    }
}

TEST_F(JobEndFunctions, AckListsOfLapsedLeasesOnlyByAttempt)
{
    enqueue("q");
    enqueue("q");
    claim("q", 2);
    now_ = 1061;
    EXPECT_EQ(call("honker_ack_batch('[1,2]', 'w')"), "0");
    EXPECT_EQ(call("honker_ack_batch('[1,[2,1]]', 'w')"), "1");
    EXPECT_EQ(call("honker_ack_batch('[[1,1]]', 'other')"), "0");
}

TEST_F(JobEndFunctions, RetryUntilThereAreNoAttemptsLeft)
{
    enqueue("q", "0, 2, NULL");
    claim("q");
    EXPECT_EQ(call("honker_retry(1, 'other', 5, 'e')"), "0");
    EXPECT_EQ(call("honker_retry(1, 'w', 5, 'lost')"), "1");
    EXPECT_EQ(live("state, run_at, worker_id, claim_expires_at, claimed_at, attempts", "1"),
              "scheduled|1005|NULL|NULL|NULL|1");
    EXPECT_EQ(call("honker_retry(1, 'w', 5, 'e')"), "0");
    now_ = 1005;
    claim("q");
    EXPECT_EQ(call("honker_retry(1, 'w', 5, 'no more', 2)"), "1");
    EXPECT_EQ(dead("id, queue, attempts, max_attempts, last_error, created_at, died_at"),
              "1|q|2|2|no more|1000|1005");
    EXPECT_EQ(call("honker_retry(1, 'w', 5, 'no more', 2)"), "0");
}

TEST_F(JobEndFunctions, RetryAtOnceOrEarlier)
{
    enqueue("q");
    claim("q");
    EXPECT_EQ(call("honker_retry(1, 'w', 0, '')"), "1");
    EXPECT_EQ(live("state, run_at", "1"), "pending|1000");
    claim("q");
    EXPECT_EQ(call("honker_retry(1, 'w', -10, '')"), "1");
    EXPECT_EQ(live("state, run_at", "1"), "pending|990");
    claim("q");
    now_ = 2000;
    EXPECT_EQ(call("honker_retry(1, 'w', 0, '')"), "0");
    EXPECT_EQ(call("honker_retry(1, 'w', 0, 'late', 3)"), "1");
    EXPECT_EQ(dead(), "1|late");
}

TEST_F(JobEndFunctions, FailWhatIsHeld)
{
    enqueue("q");
    enqueue("q");
    claim("q", 2);
    EXPECT_EQ(call("honker_fail(1, 'other', 'e')"), "0");
    EXPECT_EQ(call("honker_fail(1, 'w', 'e', 2)"), "0");
    EXPECT_EQ(call("honker_fail(1, 'w', 'broken')"), "1");
    EXPECT_EQ(dead("id, attempts, max_attempts, last_error"), "1|1|3|broken");
    now_ = 1061;
    EXPECT_EQ(call("honker_fail(2, 'w', 'e')"), "0");
    EXPECT_EQ(call("honker_fail(2, 'w', 'e', 1)"), "1");
}

TEST_F(JobEndFunctions, ExtendLeasesFromNow)
{
    enqueue("q");
    claim("q");
    EXPECT_EQ(call("honker_heartbeat(1, 'w', 5)"), "1");
    EXPECT_EQ(live("claim_expires_at, claimed_at, attempts", "1"), "1005|1000|1");
    EXPECT_EQ(call("honker_heartbeat(1, 'w', 0)"), "1");
    EXPECT_EQ(call("honker_heartbeat(1, 'w', -1)"), "1");
    EXPECT_EQ(live("claim_expires_at", "1"), "999");
    EXPECT_EQ(call("honker_heartbeat(1, 'w', 60)"), "0");
    EXPECT_EQ(call("honker_heartbeat(1, 'w', 60, 2)"), "0");
    EXPECT_EQ(call("honker_heartbeat(1, 'w', 60, 1)"), "1"); // revives it
    EXPECT_EQ(live("claim_expires_at", "1"), "1060");
    EXPECT_EQ(call("honker_heartbeat(1, 'w', 9223372036854775807)"), "1");
    EXPECT_EQ(live("claim_expires_at", "1"), "9223372036854775807");
    EXPECT_EQ(call("honker_queue_next_claim_at('q')"), "9223372036854775807");
}

TEST_F(JobEndFunctions, CancelInAnyState)
{
    enqueue("q");
    enqueue("q");
    call("honker_enqueue('q', '{}', NULL, 50, 0, 3, NULL)");
    claim("q");
    EXPECT_EQ(call("honker_cancel('other', 1)"), "0");
    EXPECT_EQ(call("honker_cancel('q', 1)"), "1");
    EXPECT_EQ(call("honker_cancel(2)"), "1");
    EXPECT_EQ(call("honker_cancel(3)"), "1");
    EXPECT_EQ(call("honker_cancel(3)"), "0");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead"), "0");
    EXPECT_EQ(enqueue("q"), "4");
}

} // namespace
