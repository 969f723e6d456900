#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;
using skein::support::plain_connection;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ScheduleFunctions : public contract_fixture {
protected:
    std::string add(const std::string& name, const std::string& expression,
                    const std::string& more = "0, NULL") const
    {
        return call("honker_scheduler_register('" + name + "', 'q', '" + expression + "', '{}', " +
                    more + ")");
    }

    std::string tick(std::int64_t due) const
    {
        return call("honker_scheduler_tick(" + std::to_string(due) + ")");
    }

    std::string next(const std::string& expression, const std::string& from) const
    {
        return call("honker_cron_next_after('" + expression + "', " + from + ")");
    }

    std::string row(const std::string& columns) const
    {
        return value("SELECT " + columns + " FROM _honker_scheduler_tasks");
    }
};

TEST_F(ScheduleFunctions, RegisterAndReplace)
{
    EXPECT_EQ(add("s", "@every 10s", "2, 30"), "1");
    EXPECT_EQ(row("*"), "s|q|@every 10s|{}|2|30|1010|1|3");
    call("honker_scheduler_pause('s')");
    now_ = 1005;
    EXPECT_EQ(add("s", "@every 20s", "0, NULL, 7"), "1");
    EXPECT_EQ(row("*"), "s|q|@every 20s|{}|0|NULL|1025|0|7"); // it stays paused
}

TEST_F(ScheduleFunctions, RegisterNothingThatIsWrong)
{
    const auto refused = [&](const std::string& expression, const std::string& more) {
        return refusal_of("honker_scheduler_register('s', 'q', '" + expression + "', '{}', " +
                          more + ")");
    };
    EXPECT_THAT(refused("* * *", "0, NULL"), HasSubstr("got 3"));
    EXPECT_THAT(refused("@every 1s", "0, NULL, 0"), HasSubstr("max_attempts must be at least 1"));
    EXPECT_THAT(refused("5/15 * * * *", "0, NULL"), HasSubstr("5-59/15"));
    EXPECT_THAT(refused("0 0 30 2 *", "0, NULL"), HasSubstr("no moment within 100 years"));
    EXPECT_EQ(value("SELECT count(*) FROM _honker_scheduler_tasks"), "0");
}

TEST_F(ScheduleFunctions, WriteNamesAsNumbers)
{
    add("a", "0 3 * JAN MON-FRI");
    add("b", "@hourly");
    add("c", "0 0 * * 7");
    EXPECT_THAT(sql("SELECT cron_expr FROM _honker_scheduler_tasks ORDER BY name"),
                ElementsAre("0 3 * 1 1-5", "0 * * * *", "0 0 * * 0"));
}

TEST_F(ScheduleFunctions, KeepZonesInOurOwnTable)
{
    add("z", "CRON_TZ=America/New_York 0 3 * * *");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_scheduler_tasks"), "0");
    EXPECT_EQ(value("SELECT next_fire_at FROM _skein_schedules"), "28800");
    EXPECT_EQ(call("honker_scheduler_soonest()"), "28800");
    EXPECT_EQ(call("honker_scheduler_list() ->> '$[0].name'"), "z");
    add("z", "@every 5s");
    EXPECT_EQ(value("SELECT count(*) FROM _skein_schedules"), "0");
    EXPECT_EQ(row("name, next_fire_at"), "z|1005");
    EXPECT_THAT(refusal_of("honker_scheduler_register('x', 'q', 'CRON_TZ=No/Where 0 3 * * *', '1',"
                           " 0, NULL)"),
                HasSubstr("No/Where"));
}

TEST_F(ScheduleFunctions, PauseAndResume)
{
    add("s", "@every 10s");
    EXPECT_EQ(call("honker_scheduler_resume('s')"), "0");
    EXPECT_EQ(call("honker_scheduler_pause('s')"), "1");
    EXPECT_EQ(call("honker_scheduler_pause('s')"), "0");
    EXPECT_EQ(call("honker_scheduler_pause('none')"), "0");
    EXPECT_EQ(call("honker_scheduler_soonest()"), "0");
    EXPECT_EQ(tick(1035), "[]");
    EXPECT_EQ(call("honker_scheduler_resume('s')"), "1");
    EXPECT_EQ(call("honker_scheduler_soonest()"), "1010");
    EXPECT_THAT(each(tick(1035), "fire_at"), ElementsAre("1010", "1020", "1030"));
    EXPECT_EQ(call("honker_scheduler_unregister('s')"), "1");
    EXPECT_EQ(call("honker_scheduler_unregister('s')"), "0");
    EXPECT_EQ(call("honker_scheduler_list()"), "[]");
}

TEST_F(ScheduleFunctions, ListByName)
{
    add("b", "@every 10s", "2, 30");
    add("a", "0 * * * *");
    call("honker_scheduler_pause('a')");
    EXPECT_THAT(call("honker_scheduler_list()"),
                AllOf(StartsWith("[{\"cron_expr\":\"0 * * * *\",\"enabled\":false,\"expires_s\":"
                                 "null,\"max_attempts\":3,\"name\":\"a\",\"next_fire_at\":"),
                      HasSubstr(",{\"cron_expr\":\"@every 10s\",\"enabled\":true,\"expires_s\":30,"
                                "\"max_attempts\":3,\"name\":\"b\",\"next_fire_at\":1010,"
                                "\"payload\":\"{}\",\"priority\":2,\"queue\":\"q\"}]")));
}

TEST_F(ScheduleFunctions, UpdateWhatIsGiven)
{
    add("s", "@every 10s", "2, 30, 7");
    const auto update = [&](const std::string& rest) {
        return call("honker_scheduler_update('s', " + rest + ")");
    };
    now_ = 1002;
    EXPECT_EQ(update("NULL, NULL, NULL, NULL, 0"), "0");
    EXPECT_EQ(update("NULL, NULL, NULL, 99, 0"), "0"); // not touched
    EXPECT_EQ(update("NULL, '1', 5, NULL, 0"), "1");
    EXPECT_EQ(row("*"), "s|q|@every 10s|1|5|30|1010|1|7");
    EXPECT_EQ(update("NULL, NULL, NULL, 99, 1"), "1");
    EXPECT_EQ(update("'@every 20s', NULL, NULL, NULL, 0"), "1");
    EXPECT_EQ(row("*"), "s|q|@every 20s|1|5|99|1022|1|7");
    EXPECT_EQ(update("NULL, NULL, NULL, NULL, -1"), "1");
    EXPECT_EQ(update("NULL, NULL, NULL, NULL, 0, 9, 0"), "0");
    EXPECT_EQ(update("NULL, NULL, NULL, NULL, 0, 9, 1"), "1");
    EXPECT_EQ(row("expires_s, max_attempts"), "NULL|9");
    EXPECT_EQ(update("NULL, NULL, NULL, NULL, 0, NULL, 1"), "1");
    EXPECT_EQ(row("max_attempts"), "3");
}

TEST_F(ScheduleFunctions, CheckUpdatesInTheirOrder)
{
    const auto update = [&](const std::string& rest) {
        return refusal_of("honker_scheduler_update(" + rest + ")");
    };
    EXPECT_THAT(update("'none', 'bad', 'bad', NULL, NULL, 0, 0, 1"),
                HasSubstr("max_attempts must be at least 1"));
    EXPECT_THAT(update("'none', 'bad', 'bad', NULL, NULL, 0"),
                HasSubstr("honker: payload must be valid JSON"));
    EXPECT_EQ(call("honker_scheduler_update('none', 'bad', NULL, NULL, NULL, 0)"), "0");
    add("s", "@every 10s");
    EXPECT_THAT(update("'s', 'bad', '1', NULL, NULL, 0"), HasSubstr("got 1"));
    EXPECT_EQ(row("payload"), "{}");
}

TEST_F(ScheduleFunctions, TickByTheGivenTimeAndEnqueueByTheClock)
{
    add("s", "@every 10s", "4, 7, 2");
    now_ = 5000;
    EXPECT_EQ(tick(1009), "[]");
    EXPECT_EQ(tick(1010), "[{\"fire_at\":1010,\"job_id\":1,\"name\":\"s\",\"queue\":\"q\"}]");
    EXPECT_EQ(value("SELECT payload, state, priority, run_at, max_attempts, expires_at"
                    " FROM _honker_live"),
              "{}|pending|4|5000|2|5007");
    EXPECT_EQ(row("next_fire_at"), "1020");
    EXPECT_EQ(tick(1010), "[]");
}

TEST_F(ScheduleFunctions, TickInTheOrderOfNamesAndMoments)
{
    add("b", "@every 10s");
    add("a", "@every 15s");
    const std::string fires = tick(1030);
    EXPECT_THAT(each(fires, "name"), ElementsAre("a", "a", "b", "b", "b"));
    EXPECT_THAT(each(fires, "fire_at"), ElementsAre("1015", "1030", "1010", "1020", "1030"));
}

TEST_F(ScheduleFunctions, SkipWhatIsFarBehind)
{
    add("s", "@every 10s");
    EXPECT_EQ(each(tick(1000 + 640), "fire_at").size(), 64U);
    EXPECT_EQ(row("next_fire_at"), "1650");
    const auto fires = each(tick(10'000), "fire_at");
    EXPECT_EQ(fires.size(), 64U);
    EXPECT_EQ(fires.front(), "1650");
    EXPECT_EQ(fires.back(), "2280");
    EXPECT_EQ(row("next_fire_at"), "10010");
}

TEST_F(ScheduleFunctions, ChangeNothingInATickThatFails)
{
    add("a", "@every 10s");
    add("b", "@every 10s");
    sql("CREATE TRIGGER no BEFORE INSERT ON _honker_live WHEN (SELECT count(*) FROM _honker_live)"
        " >= 3 BEGIN SELECT raise(ABORT, 'full'); END");
    const auto before = all_rows();
    EXPECT_EQ(refusal_of("honker_scheduler_tick(1020)"), "full");
    EXPECT_FALSE(in_transaction());
    EXPECT_EQ(all_rows(), before);
    sql("DROP TRIGGER no");
    EXPECT_EQ(each(tick(1020), "job_id").size(), 4U);
}

TEST_F(ScheduleFunctions, FailATickForARowThatIsWrong)
{
    add("a", "@every 10s");
    add("b", "@every 10s");
    for (const char* const wrong : {"max_attempts = 0", "cron_expr = 'no'"}) {
        sql("SAVEPOINT s; UPDATE _honker_scheduler_tasks SET " + std::string(wrong) +
            " WHERE name = 'b'");
        EXPECT_THAT(refusal_of("honker_scheduler_tick(1020)"), HasSubstr("schedule \"b\""));
        EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
        EXPECT_EQ(value("SELECT min(next_fire_at) FROM _honker_scheduler_tasks"), "1010");
        sql("ROLLBACK TO s; RELEASE s");
    }
}

TEST_F(ScheduleFunctions, BuryWhatHasAPayloadThatIsNoJson)
{
    add("legacy", "@every 10s", "4, 7, 2");
    sql("UPDATE _honker_scheduler_tasks SET payload = 'not json'");
    now_ = 3000;
    EXPECT_EQ(tick(1020), "[]");
    EXPECT_THAT(
        sql("SELECT id, queue, payload, priority, max_attempts, run_at, attempts,"
            " created_at, died_at FROM _honker_dead"),
        ElementsAre("1|q|not json|4|2|1010|0|3000|3000", "2|q|not json|4|2|1020|0|3000|3000"));
    EXPECT_THAT(value("SELECT DISTINCT last_error FROM _honker_dead"),
                AllOf(HasSubstr("legacy"), HasSubstr("honker_scheduler_update")));
    EXPECT_EQ(row("next_fire_at"), "1030");
    EXPECT_EQ(enqueue("q"), "3");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "1");
}

TEST_F(ScheduleFunctions, KnowTheNextMomentOfEveryExpression)
{
    EXPECT_EQ(next("@every 5s", "7"), "12");
    EXPECT_EQ(next("@every1m", "7"), "67");
    EXPECT_EQ(next(" @every  2h ", "0"), "7200");
    EXPECT_EQ(next("@every 1d", "1"), "86401");
    EXPECT_EQ(next("CRON_TZ=UTC */2 * * * * *", "3"), "4");
    EXPECT_EQ(next("CRON_TZ=UTC 0 3 * * *", "0"), "10800");
    EXPECT_EQ(next("CRON_TZ=UTC 0 0 1 JAN *", "0"), "31536000");
    EXPECT_EQ(next("CRON_TZ=UTC @hourly", "0"), "3600");
    for (const char* const wrong :
         {"", "* * * *", "* * * * * * *", "60 * * * *", "@every 0s", "@every 1w", "@every 1h30m",
          "@Every 1s", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "1,, * * * *",
          "@every 9223372036854775807d"}) {
        EXPECT_NE(refusal_of("honker_cron_next_after('" + std::string(wrong) + "', 0)"), "")
            << wrong;
    }
    EXPECT_THAT(refusal_of("honker_cron_next_after('@every 1s', 9223372036854775807)"),
                HasSubstr("honker_cron_next_after"));
    EXPECT_THAT(refusal_of("honker_cron_next_after('* *', 0)"),
                HasSubstr("schedule expression requires 5 or 6 cron fields, or '@every <n><unit>';"
                          " got 2"));
}

TEST_F(ScheduleFunctions, TickEachMomentOnceWhereTwoTick)
{
    sql("PRAGMA journal_mode = wal");
    add("s", "@every 10s");
    const skein::support::extension_connection other(path_);
    EXPECT_EQ(each(tick(1020), "job_id").size(), 2U);
    EXPECT_EQ(other.value("SELECT honker_scheduler_tick(1020)"), "[]");
}

} // namespace
