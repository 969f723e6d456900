// What the contract does not have: all that begins with skein_.

#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeadLetterFunctions : public contract_fixture {
protected:
    /// Jobs 1 to 4 die, a second apart.
    DeadLetterFunctions()
    {
        for (int i = 0; i < 4; ++i) {
            enqueue("q", "2, 3, NULL");
        }
        claim("q", 4);
        for (int i = 1; i <= 4; ++i) {
            call("honker_fail(" + std::to_string(i) + ", 'w', 'e" + std::to_string(i) + "')");
            ++now_;
        }
    }
};

using AddedFunctions = contract_fixture;

TEST_F(DeadLetterFunctions, ListOldestFirst)
{
    EXPECT_EQ(
        call("skein_dead_letters('q', 1)"),
        "[{\"attempts\":1,\"created_at\":1000,\"died_at\":1000,\"id\":1,\"last_error\":\"e1\","
        "\"max_attempts\":3,\"payload\":\"{}\",\"priority\":2,\"queue\":\"q\","
        "\"run_at\":1000}]");
    EXPECT_THAT(each(call("skein_dead_letters('q', -1)"), "id"), ElementsAre("1", "2", "3", "4"));
    EXPECT_EQ(call("skein_dead_letters('q', 0)"), "[]");
    EXPECT_EQ(call("skein_dead_letters('none', -1)"), "[]");
    sql("UPDATE _honker_dead SET last_error = NULL WHERE id = 1");
    EXPECT_EQ(call("skein_dead_letters('q', 1) ->> '$[0].last_error'"), "NULL");
}

TEST_F(DeadLetterFunctions, RedriveAsNewJobs)
{
    EXPECT_EQ(call("skein_dead_letter_redrive('other', 1)"), "NULL");
    EXPECT_EQ(call("skein_dead_letter_redrive('q', 99)"), "NULL");
    EXPECT_EQ(call("skein_dead_letter_redrive('q', 1)"), "5");
    EXPECT_EQ(value("SELECT state, attempts, priority, run_at FROM _honker_live"),
              "pending|0|2|1004");
    EXPECT_EQ(call("skein_dead_letter_redrive_all('q')"), "3");
    EXPECT_EQ(call("skein_dead_letter_redrive_all('q')"), "0");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead"), "0");
}

TEST_F(DeadLetterFunctions, Prune)
{
    EXPECT_EQ(call("skein_dead_letter_prune('q', 3, NULL)"), "1");
    EXPECT_EQ(call("skein_dead_letter_prune('q', NULL, 2)"), "1");
    EXPECT_EQ(value("SELECT group_concat(id) FROM _honker_dead"), "3,4");
    EXPECT_EQ(call("skein_dead_letter_prune('q', NULL, 0)"), "2");
    EXPECT_THAT(refusal_of("skein_dead_letter_prune('q', NULL, NULL)"), HasSubstr("both NULL"));
    EXPECT_THAT(refusal_of("skein_dead_letter_prune('q', 1, -1)"),
                HasSubstr("must not be negative"));
}

TEST_F(AddedFunctions, CountJobs)
{
    EXPECT_EQ(call("skein_queues()"), "{}");
    enqueue("a");
    enqueue("a");
    call("honker_enqueue('a', '1', NULL, 50, 0, 3, NULL)");
    claim("a");
    now_ = 1061;
    EXPECT_EQ(
        call("skein_queue_counts('a')"),
        "{\"dead\":0,\"held\":0,\"lapsed\":1,\"next_due\":1050,\"oldest_ready\":1000,\"pending\":1,"
        "\"processing\":1,\"scheduled\":1}");
    enqueue("b");
    EXPECT_THAT(sql("SELECT key, value ->> 'pending' FROM json_each(skein_queues())"),
                ElementsAre("a|1", "b|1"));
    EXPECT_EQ(
        call("skein_queue_counts('none')"),
        "{\"dead\":0,\"held\":0,\"lapsed\":0,\"next_due\":null,\"oldest_ready\":null,\"pending\":0,"
        "\"processing\":0,\"scheduled\":0}");
}

TEST_F(AddedFunctions, GiveJobsBackWithoutAnAttempt)
{
    enqueue("q", "0, 1, NULL");
    claim("q");
    EXPECT_EQ(call("skein_release(1, 'w', 2)"), "0");
    EXPECT_EQ(call("skein_release(1, 'w', 1)"), "1");
    EXPECT_EQ(value("SELECT state, worker_id, max_attempts - attempts FROM _honker_live"),
              "pending|NULL|1");
    claim("q");
    EXPECT_EQ(call("skein_snooze(1, 'w', 30, 2)"), "1");
    EXPECT_EQ(value("SELECT state, run_at, max_attempts - attempts FROM _honker_live"),
              "scheduled|1030|1");
    EXPECT_EQ(call("skein_snooze(1, 'w', 30, 2)"), "0");
}

TEST_F(AddedFunctions, AddSchedulesWithOptions)
{
    EXPECT_EQ(call("skein_scheduler_find('s')"), "NULL");
    EXPECT_EQ(call("skein_scheduler_add('s', 'q', '@every 10s', '{}', '{\"priority\":2,"
                   "\"expires_s\":5,\"max_attempts\":4,\"ends_at\":1025,\"runs\":9,"
                   "\"missed\":\"once\",\"grace_s\":7,\"overlap\":\"skip\"}')"),
              "1");
    EXPECT_EQ(call("skein_scheduler_find('s')"),
              "{\"cron_expr\":\"@every 10s\",\"enabled\":true,\"ends_at\":1025,\"expires_s\":5,"
              "\"grace_s\":7,\"last_job\":null,\"max_attempts\":4,\"missed\":\"once\","
              "\"name\":\"s\",\"next_fire_at\":1010,\"overlap\":\"skip\",\"payload\":\"{}\","
              "\"priority\":2,\"queue\":\"q\",\"runs_left\":9}");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_scheduler_tasks"), "0");
    EXPECT_EQ(call("skein_scheduler_change('s', NULL, '1', '{\"ends_at\":null,\"runs\":null,"
                   "\"missed\":\"all\",\"overlap\":\"allow\",\"expires_s\":null}')"),
              "1");
    EXPECT_EQ(value("SELECT payload, expires_s FROM _honker_scheduler_tasks"), "1|NULL");
    EXPECT_EQ(value("SELECT count(*) FROM _skein_schedules"), "0");
    EXPECT_EQ(call("skein_scheduler_change('none', NULL, NULL, '{\"priority\":1}')"), "0");
    EXPECT_EQ(call("skein_scheduler_change('s', NULL, NULL, '{}')"), "0");
}

TEST_F(AddedFunctions, EndSchedules)
{
    call("skein_scheduler_add('s', 'q', '@every 10s', '{}', '{\"runs\":2}')");
    EXPECT_THAT(each(call("honker_scheduler_tick(1100)"), "fire_at"), ElementsAre("1010", "1020"));
    EXPECT_EQ(call("honker_scheduler_tick(1200)"), "[]");
    EXPECT_EQ(call("honker_scheduler_soonest()"), "0");
    EXPECT_EQ(call("skein_scheduler_find('s') ->> 'next_fire_at'"), "NULL");
    EXPECT_EQ(call("honker_scheduler_unregister('s')"), "1");
}

TEST_F(AddedFunctions, RefuseOptionsThatAreNone)
{
    const auto refused = [&](const std::string& options) {
        return refusal_of("skein_scheduler_add('s', 'q', '@every 10s', '{}', '" + options + "')");
    };
    for (const char* const options : {"", "[]", "1", "nonsense"}) {
        EXPECT_THAT(refused(options), HasSubstr("options must be a JSON object"));
    }
    EXPECT_THAT(refused("{\"run\":1}"), HasSubstr("option \"run\" is not known"));
    for (const char* const number :
         {"null", "1.5", "\"1\"", "9223372036854775808", "18446744073709551615", "1e30", "true"}) {
        EXPECT_THAT(refused("{\"priority\":" + std::string(number) + "}"),
                    HasSubstr("option \"priority\" must be a whole number"))
            << number;
    }
    EXPECT_THAT(refused("{\"missed\":\"never\"}"), HasSubstr("\"all\", \"once\" or \"skip\""));
    EXPECT_THAT(refused("{\"overlap\":1}"), HasSubstr("\"allow\" or \"skip\""));
    EXPECT_THAT(refused("{\"runs\":0}"), HasSubstr("runs must be at least 1"));
    EXPECT_THAT(refused("{\"runs\":1.5}"), HasSubstr("option \"runs\" must be a whole number"));
    EXPECT_EQ(value("SELECT count(*) FROM _skein_schedules"), "0");
}

TEST_F(AddedFunctions, TakeNullForWhatMayBeAbsent)
{
    EXPECT_EQ(call("skein_scheduler_add('s', 'q', '@every 10s', '{}',"
                   " '{\"runs\":null,\"ends_at\":null,\"expires_s\":null}')"),
              "1");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_scheduler_tasks"), "1");
}

} // namespace
