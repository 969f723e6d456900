#include "schedule/schedule_fixture.hpp"

#include <skein/json.hpp>

#include <limits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::at;
using support::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Adding : public support::schedule_fixture {
protected:
    /// What `add` says of an expression.
    std::string refusal(std::string_view expression, const schedule_options& options = {})
    {
        return refusal_of([&] { add("s", expression, options); });
    }

    std::vector<std::string> names()
    {
        std::vector<std::string> all;
        for (const schedule& each : db_.run(scheduler_.list())) {
            all.push_back(each.name);
        }
        return all;
    }
};

TEST_F(Adding, MakesARowThatEveryProgramServes)
{
    add("s", " */5  *  * * MON-FRI ", {.priority = 7, .expires_in = 60s, .max_attempts = 9});
    EXPECT_THAT(other_.sql("SELECT name, queue, cron_expr, payload, priority, expires_s,"
                           " next_fire_at, enabled, max_attempts FROM _honker_scheduler_tasks"),
                ElementsAre("s|q|*/5 * * * 1-5|null|7|60|300|1|9"));
}

TEST_F(Adding, TellsWhatItHasAdded)
{
    db_.run(scheduler_.add("s", "mail", "CRON_TZ=Europe/Berlin @daily", R"({"a":1})",
                           {.priority = -3,
                            .expires_in = 90s,
                            .max_attempts = 4,
                            .ends_at = at(1'000'000),
                            .runs = 5,
                            .missed = missed_moments::skip,
                            .grace = 10s,
                            .overlap = overlap_policy::skip}));
    const schedule found = find("s");
    EXPECT_EQ(found.name, "s");
    EXPECT_EQ(found.queue, "mail");
    EXPECT_EQ(found.expression, "CRON_TZ=Europe/Berlin 0 0 * * *");
    EXPECT_EQ(found.payload, R"({"a":1})");
    EXPECT_EQ(found.priority, -3);
    EXPECT_EQ(found.expires_in, 90s);
    EXPECT_EQ(found.max_attempts, 4);
    EXPECT_FALSE(found.is_paused);
    EXPECT_EQ(found.next_at, at(23 * 3600)); // Berlin is an hour ahead
    EXPECT_EQ(found.ends_at, at(1'000'000));
    EXPECT_EQ(found.runs_left, 5);
    EXPECT_EQ(found.missed, missed_moments::skip);
    EXPECT_EQ(found.grace, 10s);
    EXPECT_EQ(found.overlap, overlap_policy::skip);
    EXPECT_EQ(found.last_job, std::nullopt);
}

TEST_F(Adding, HasTheDefaultsOfTheFormat)
{
    add("s", "@every 30s");
    const schedule found = find("s");
    EXPECT_EQ(found.priority, 0);
    EXPECT_EQ(found.expires_in, std::nullopt);
    EXPECT_EQ(found.max_attempts, 3);
    EXPECT_EQ(found.next_at, at(130));
    EXPECT_EQ(found.ends_at, std::nullopt);
    EXPECT_EQ(found.runs_left, std::nullopt);
    EXPECT_EQ(found.missed, missed_moments::all);
    EXPECT_EQ(found.grace, std::nullopt);
    EXPECT_EQ(found.overlap, overlap_policy::allow);
}

TEST_F(Adding, KeepsWhatOnlySkeinUnderstandsOutOfTheSharedTable)
{
    add("zone", "CRON_TZ=UTC 0 * * * *");
    add("end", "0 * * * *", {.ends_at = at(1'000'000)});
    add("runs", "0 * * * *", {.runs = 2});
    add("once", "0 * * * *", {.missed = missed_moments::once});
    add("skip", "0 * * * *", {.overlap = overlap_policy::skip});
    EXPECT_EQ(value("SELECT count(*) FROM _honker_scheduler_tasks"), "0");
    EXPECT_THAT(names(), ElementsAre("end", "once", "runs", "skip", "zone"));
}

TEST_F(Adding, ReplacesOneOfTheNameInWhicheverTable)
{
    add("s", "0 * * * *");
    add("s", "CRON_TZ=UTC 30 * * * *");
    EXPECT_EQ(find("s").next_at, at(1800));
    add("s", "45 * * * *");
    EXPECT_EQ(find("s").next_at, at(2700));
    EXPECT_THAT(names(), ElementsAre("s"));
}

TEST_F(Adding, LeavesOnePaused)
{
    add("s", "0 * * * *");
    EXPECT_TRUE(db_.run(scheduler_.pause("s")));
    add("s", "30 * * * *");
    EXPECT_TRUE(find("s").is_paused);
    add("s", "CRON_TZ=UTC 30 * * * *");
    EXPECT_TRUE(find("s").is_paused);
}

TEST_F(Adding, ListsThoseOfOtherProgramsToo)
{
    add("b", "CRON_TZ=UTC 0 * * * *");
    other_.sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, next_fire_at)"
               " VALUES ('a', 'q', 'nonsense', 'no json', 50)");
    EXPECT_THAT(names(), ElementsAre("a", "b"));
    EXPECT_EQ(db_.run(scheduler_.soonest()), at(50));
}

TEST_F(Adding, KnowsOfNothingInAFileWithoutTables)
{
    support::manual_database empty;
    const scheduler there = empty.database().scheduler();
    EXPECT_TRUE(empty.run(there.list()).empty());
    EXPECT_FALSE(empty.run(there.find("s")));
    EXPECT_FALSE(empty.run(there.soonest()));
    const support::plain_connection file(empty.path());
    EXPECT_EQ(file.value("SELECT count(*) FROM sqlite_master"), "0");
}

TEST_F(Adding, TellsTheSoonestOfThoseThatAreNotPaused)
{
    EXPECT_FALSE(db_.run(scheduler_.soonest()));
    add("a", "@every 10s");
    add("b", "CRON_TZ=UTC 5 * * * *");
    EXPECT_EQ(db_.run(scheduler_.soonest()), at(110));
    EXPECT_TRUE(db_.run(scheduler_.pause("a")));
    EXPECT_EQ(db_.run(scheduler_.soonest()), at(300));
}

TEST_F(Adding, TakesValues)
{
    const nlohmann::json value{{"full", true}};
    db_.run(scheduler_.add("s", "q", "@daily", value));
    EXPECT_EQ(find("s").payload, R"({"full":true})");
}

TEST_F(Adding, TakesAnyNames)
{
    using namespace std::string_view_literals;
    db_.run(scheduler_.add("", "", "@daily", "null"));
    db_.run(scheduler_.add("a\0b"sv, "q\0r"sv, "@daily", "null"));
    EXPECT_THAT(names(), ElementsAre("", "a\0b"sv));
    EXPECT_EQ(find("a\0b"sv).queue, "q\0r"sv);
}

TEST_F(Adding, TellsWhereAndWhyAnExpressionIsRefused)
{
    EXPECT_THAT(refusal("61 * * * *"), HasSubstr("61"));
    EXPECT_THAT(refusal("* * *"), HasSubstr("requires 5 or 6 cron fields"));
    EXPECT_THAT(refusal("5/15 * * * *"), HasSubstr("5-59/15"));
    EXPECT_THAT(refusal("@every 0s"), HasSubstr("character 8 (\"0s\")"));
    EXPECT_THAT(refusal(""), HasSubstr("5 or 6"));
    EXPECT_TRUE(names().empty());
}

TEST_F(Adding, RefusesAZoneThatTheSystemDoesNotHave)
{
    EXPECT_THAT(refusal("CRON_TZ=Middle/Earth 0 3 * * *"), HasSubstr("Middle/Earth"));
    EXPECT_TRUE(names().empty());
}

TEST_F(Adding, RefusesWhatHasNoMoment)
{
    EXPECT_THAT(refusal("0 0 30 2 *"), HasSubstr("no moment within 100 years"));
    EXPECT_THAT(refusal("0 * * * *", {.ends_at = at(200)}), HasSubstr("before the schedule ends"));
    EXPECT_TRUE(names().empty());
}

TEST_F(Adding, WantsToKnowWhatTwoRestrictedDaysMean)
{
    const std::string text = refusal("0 0 13 * FRI");
    EXPECT_THAT(text, HasSubstr("CRON_TZ=<zone> 0 0 13 * 5"));
    EXPECT_THAT(text, HasSubstr("both_days"));

    add("both", "0 0 13 * FRI", {.both_days = true});
    EXPECT_EQ(find("both").next_at, at(43 * 86400)); // Friday, the 13th of February 1970
    add("either", "CRON_TZ=UTC 0 0 13 * FRI");
    EXPECT_EQ(find("either").next_at, at(86400)); // a Friday
    EXPECT_THAT(refusal("CRON_TZ=UTC 0 0 13 * FRI", {.both_days = true}), HasSubstr("both_days"));
    add("one", "0 0 13 * *", {.both_days = true});
}

TEST_F(Adding, RefusesOptionsThatMeanNothing)
{
    EXPECT_THAT(refusal("@daily", {.max_attempts = 0}), HasSubstr("max_attempts"));
    EXPECT_THAT(refusal("@daily", {.runs = 0}), HasSubstr("runs"));
    EXPECT_THAT(refusal("@daily", {.missed = missed_moments::skip, .grace = -1s}),
                HasSubstr("grace"));
    EXPECT_THAT(refusal("@daily", {.grace = 1s}), HasSubstr("grace"));
    EXPECT_THAT(refusal("@daily", {.missed = static_cast<missed_moments>(7)}), HasSubstr("missed"));
    EXPECT_THAT(refusal("@daily", {.overlap = static_cast<overlap_policy>(7)}),
                HasSubstr("overlap"));
    EXPECT_TRUE(names().empty());
}

TEST_F(Adding, RefusesAPayloadThatIsNoJson)
{
    try {
        db_.run(scheduler_.add("s", "q", "@daily", "{"));
        ADD_FAILURE() << "nothing was refused";
    } catch (const error& told) {
        EXPECT_EQ(told.code(), errc::invalid_payload);
    }
    EXPECT_TRUE(names().empty());
}

TEST_F(Adding, BearsTheFarthestTimes)
{
    constexpr auto longest = std::chrono::seconds::max();
    add("s", "@daily", {.expires_in = longest, .ends_at = clock::wall_time::max()});
    EXPECT_EQ(find("s").expires_in, longest);
    add("t", "@daily", {.runs = std::numeric_limits<std::int64_t>::max()});
    EXPECT_EQ(find("t").runs_left, std::numeric_limits<std::int64_t>::max());
}

} // namespace
