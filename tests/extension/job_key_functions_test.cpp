#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;
using ::testing::HasSubstr;

class JobKeyFunctions : public contract_fixture {
protected:
    std::string add(const std::string& options, const std::string& payload = "{}")
    {
        return call("skein_enqueue('q', '" + payload + "', '" + options + "')");
    }

    std::string refused(const std::string& options)
    {
        return refusal_of("skein_enqueue('q', '{}', '" + options + "')");
    }
};

TEST_F(JobKeyFunctions, EnqueueWithOptions)
{
    EXPECT_EQ(add("{}"), R"({"id":1,"outcome":"created"})");
    EXPECT_EQ(add(R"({"delay_s":5,"priority":2,"max_attempts":7,"expires_s":60})"),
              R"({"id":2,"outcome":"created"})");
    EXPECT_EQ(value("SELECT state, run_at, priority, max_attempts, expires_at FROM _honker_live"
                    " WHERE id = 2"),
              "scheduled|1005|2|7|1060");
    add(R"({"run_at":990})");
    EXPECT_EQ(value("SELECT run_at FROM _honker_live WHERE id = 3"), "990");
    EXPECT_EQ(value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '_skein_unique%'"), "0");
}

TEST_F(JobKeyFunctions, LetOneJobHaveAKey)
{
    EXPECT_EQ(add(R"({"unique_key":"u"})"), R"({"id":1,"outcome":"created"})");
    EXPECT_EQ(add(R"({"unique_key":"u"})"), R"({"id":1,"outcome":"skipped"})");
    EXPECT_EQ(add(R"({"unique_key":"u","on_conflict":"replace_and_move","delay_s":9})", "[1]"),
              R"({"id":1,"outcome":"changed"})");
    EXPECT_EQ(value("SELECT payload, run_at FROM _honker_live"), "[1]|1009");
    now_ = 1010;
    claim("q");
    EXPECT_EQ(add(R"({"unique_key":"u"})"), R"({"id":2,"outcome":"created"})");
}

TEST_F(JobKeyFunctions, KeepAKeyWhileItsJobRunsAndForAPeriod)
{
    const std::string options =
        R"({"unique_key":"u","unique_scope":"waiting_or_running","unique_period_s":30})";
    add(options);
    claim("q");
    EXPECT_THAT(add(options), HasSubstr("skipped"));
    call("honker_ack(1, 'w', 1)");
    EXPECT_THAT(add(options), HasSubstr("skipped"));
    now_ = 1030;
    EXPECT_THAT(add(options), HasSubstr("created"));
}

TEST_F(JobKeyFunctions, LimitThoseThatRun)
{
    for (int i = 0; i < 3; ++i) {
        add(R"({"concurrency_key":"c","concurrency_limit":2})");
    }
    add(R"({"concurrency_key":"d"})");
    EXPECT_THAT(each(claim("q", 10), "id"), ::testing::ElementsAre("1", "2", "4"));
    EXPECT_EQ(call("skein_queue_counts('q') ->> 'held'"), "1");
    EXPECT_EQ(call("honker_ack(2, 'w', 1)"), "1");
    EXPECT_THAT(each(claim("q", 10), "id"), ::testing::ElementsAre("3"));
}

TEST_F(JobKeyFunctions, RefuseWhatTheyDoNotKnow)
{
    EXPECT_THAT(refused("[]"), HasSubstr("skein_enqueue: options must be a JSON object"));
    EXPECT_THAT(refused(R"({"uniq":"u"})"),
                HasSubstr("option \"uniq\" is not known; run_at, delay_s, priority"));
    EXPECT_THAT(refused(R"({"run_at":1,"delay_s":1})"),
                HasSubstr("option \"run_at\" does not go with \"delay_s\""));
    EXPECT_THAT(refused(R"({"unique_key":7})"), HasSubstr("option \"unique_key\" must be a text"));
    EXPECT_THAT(refused(R"({"unique_key":"u","unique_scope":"for ever"})"),
                HasSubstr("must be \"waiting\" or \"waiting_or_running\""));
    EXPECT_THAT(refused(R"({"unique_key":"u","unique_period_s":0})"),
                HasSubstr("unique period must be at least 1 s, got 0 s"));
    EXPECT_THAT(refused(R"({"concurrency_key":"c","concurrency_limit":0})"),
                HasSubstr("concurrency limit must be at least 1, got 0"));
    EXPECT_THAT(refused(R"({"on_conflict":"skip"})"),
                HasSubstr("option \"on_conflict\" needs a \"unique_key\""));
    EXPECT_THAT(refused(R"({"concurrency_limit":2})"),
                HasSubstr("option \"concurrency_limit\" needs a \"concurrency_key\""));
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
}

TEST_F(JobKeyFunctions, TakeNoDueTimeForAJobThatIsHeld)
{
    for (const std::string never : {"253402300797", "253402300799"}) {
        sql("DELETE FROM _honker_live");
        const std::string first =
            call("skein_enqueue('q', '1', '{\"concurrency_key\":\"k\"}') ->> 'id'");
        add(R"({"concurrency_key":"k"})", "2");
        EXPECT_EQ(call("skein_job_change('q', " + first + ", NULL, '{\"run_at\":" + never + "}')"),
                  "1");
        EXPECT_THAT(each(claim("q", 10), "payload"), ::testing::ElementsAre("2")) << never;
        call("skein_queue_pause('q')");
        call("skein_queue_resume('q')");
        EXPECT_EQ(call("skein_queue_counts('q') ->> 'held'"), "0") << never;
        EXPECT_EQ(claim("q", 10), "[]") << never;
    }
}

TEST_F(JobKeyFunctions, AreUndoneWithTheirTables)
{
    sql("BEGIN");
    add(R"({"unique_key":"u","concurrency_key":"c"})");
    sql("ROLLBACK");
    EXPECT_EQ(value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '_skein_unique%'"), "0");
    EXPECT_EQ(add(R"({"unique_key":"u","concurrency_key":"c"})"),
              R"({"id":1,"outcome":"created"})");
}

} // namespace
