#include "store/error.hpp"
#include "store/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Schedules that are due at 1010, among them those that nobody understands.
class ScheduleRefusals : public schedule_file {
protected:
    /// Beside the name: "cron_expr, next_fire_at, max_attempts".
    void store(const std::string& name, const std::string& values)
    {
        file().sql("INSERT INTO _honker_scheduler_tasks (name, queue, payload, cron_expr,"
                   " next_fire_at, max_attempts) VALUES (" +
                   name + ", 'q', '1', " + values + ")");
    }

    std::string reason_of(const std::string& values)
    {
        store("'b'", values);
        const tick_outcome found = serve(1010);
        file().sql("DELETE FROM _honker_scheduler_tasks WHERE name = 'b'");
        EXPECT_THAT(found.fires, IsEmpty()) << values;
        EXPECT_EQ(found.refusals.size(), 1U) << values;
        return found.refusals.empty() ? "" : found.refusals.front().reason;
    }

    std::string text_of_failure(std::int64_t due)
    {
        try {
            tick(due);
            return "accepted";
        } catch (const invalid_argument& error) {
            return error.what();
        }
    }
};

TEST_F(ScheduleRefusals, NameWhatIsWrong)
{
    EXPECT_THAT(reason_of("'nonsense', 1010, 3"), HasSubstr("requires 5 or 6 cron fields"));
    EXPECT_THAT(reason_of("'0 0 * JAN *', 1010, 3"), HasSubstr("\"JAN\""));
    EXPECT_THAT(reason_of("'CRON_TZ=UTC * * * * *', 1010, 3"), HasSubstr("\"CRON_TZ=UTC"));
    EXPECT_THAT(reason_of("'* * * * *', 1010, 0"), HasSubstr("max_attempts must be at least 1"));
    EXPECT_THAT(reason_of("'0 0 30 2 *', 1010, 3"), HasSubstr("has no further moment"));
    EXPECT_THAT(reason_of("'@every 9223372036854775807s', 1010, 3"),
                HasSubstr("has no further moment"));
    std::string huge = "'0 0 30 2";
    for (int each = 0; each < 50'000; ++each) {
        huge += ",2";
    }
    EXPECT_LE(reason_of(huge + " *', 1010, 3").size(), 4096U);
}

TEST_F(ScheduleRefusals, ServeAllOthers)
{
    add_every("a", "10s");
    store("'b'", "'nonsense', 1000, 3");
    add({.name = "c", .queue = "q", .expression = "CRON_TZ=UTC * * * * *", .payload = "1"}, 900);
    add({.name = "d", .queue = "q", .expression = "CRON_TZ=Asia/Tokyo * * * * *", .payload = "1"},
        900);
    add_every("e", "10s");
    file().sql("UPDATE _skein_schedules SET cron_expr = 'CRON_TZ=No/Where * * * * *'"
               " WHERE name = 'd'");
    const std::string of_bad = "SELECT * FROM _honker_scheduler_tasks WHERE name = 'b' UNION ALL"
                               " SELECT name, queue, cron_expr, payload, priority, expires_s,"
                               " next_fire_at, enabled, max_attempts FROM _skein_schedules"
                               " WHERE name = 'd'";
    const std::vector<std::string> before = file().sql(of_bad);
    const tick_outcome found = serve(1010);
    EXPECT_THAT(found.fires,
                ElementsAre(schedule_fire{"a", "q", 1010, 1}, schedule_fire{"c", "q", 960, 2},
                            schedule_fire{"e", "q", 1010, 3}));
    EXPECT_EQ(found.refusals.size(), 2U);
    EXPECT_EQ(found.refusals.front().name, "b");
    EXPECT_EQ(found.refusals.back().name, "d");
    EXPECT_THAT(found.refusals.back().reason, HasSubstr("no zone \"No/Where\""));
    EXPECT_EQ(file().sql(of_bad), before);
    EXPECT_EQ(schedules_.soonest(), 960) << "they stay due";
    EXPECT_EQ(schedules_.soonest_after(1010), 1020);
    EXPECT_EQ(schedules_.count_due(1010), 2) << "and nothing else does";
}

TEST_F(ScheduleRefusals, WriteNothing)
{
    store("'a'", "'nonsense', 1000, 3");
    const skein::support::plain_connection other(directory_ / "test.db");
    const std::string before = other.value("PRAGMA data_version");
    EXPECT_EQ(serve(1010).refusals.size(), 1U);
    EXPECT_EQ(serve(1010).refusals.size(), 1U);
    EXPECT_EQ(other.value("PRAGMA data_version"), before);
}

TEST_F(ScheduleRefusals, ConcernOnlySchedulesThatAreDue)
{
    store("'later'", "'nonsense', 1011, 3");
    store("'paused'", "'nonsense', 1000, 3");
    tables_.write([&] { schedules_.pause("paused"); });
    EXPECT_THAT(serve(1010).refusals, IsEmpty());
}

TEST_F(ScheduleRefusals, EndWhenTheScheduleIsMended)
{
    store("'a'", "'nonsense', 1000, 3");
    EXPECT_EQ(serve(1010).refusals.size(), 1U);
    tables_.write([&] { schedules_.update("a", {.expression = "@every 5s"}, 1010); });
    const tick_outcome found = serve(1015);
    EXPECT_THAT(found.refusals, IsEmpty());
    EXPECT_THAT(found.fires, ElementsAre(schedule_fire{"a", "q", 1015, 1}));
}

TEST_F(ScheduleRefusals, FailWholeWhereTheCallerDoes)
{
    add_every("a", "10s");
    store("'b\"'", "'nonsense', 1010, 3");
    store("'c'", "'* * * * *', 1010, 0");
    EXPECT_THAT(text_of_failure(1010), StartsWith("schedule \"b\"\": schedule expression"));
    EXPECT_EQ(file().value("SELECT count(*) FROM _honker_live"), "0");
    EXPECT_EQ(next_of("a"), 1010);
    file().sql("DELETE FROM _honker_scheduler_tasks WHERE name = 'b\"'");
    EXPECT_EQ(text_of_failure(1010), "schedule \"c\": max_attempts must be at least 1, got 0");
    file().sql("DELETE FROM _honker_scheduler_tasks WHERE name = 'c'");
    EXPECT_EQ(tick(1010).size(), 1U);
    EXPECT_NO_THROW(require_no_refusal({}));
}

TEST_F(ScheduleRefusals, TellTheReasonWhateverTheNameIs)
{
    const std::string reason = "\": max_attempts must be at least 1, got 0";
    store("'a' || char(0) || 'b'", "'* * * * *', 1010, 0");
    EXPECT_EQ(text_of_failure(1010), "schedule \"a\xEF\xBF\xBD"
                                     "b" +
                                         reason);
    EXPECT_EQ(serve(1010).refusals.front().name, std::string("a\0b", 3)) << "as it is stored";
    file().sql("DELETE FROM _honker_scheduler_tasks");
    store("hex(zeroblob(1000000))", "'* * * * *', 1010, 0");
    EXPECT_THAT(text_of_failure(1010), EndsWith("00…" + reason));
    EXPECT_LT(text_of_failure(1010).size(), 300U);
    EXPECT_EQ(serve(1010).refusals.front().name.size(), 2'000'000U);
    file().sql("UPDATE _honker_scheduler_tasks SET max_attempts = 1, payload = '{'");
    EXPECT_THAT(serve(1010).refusals, IsEmpty());
    EXPECT_THAT(file().value("SELECT last_error FROM _honker_dead LIMIT 1"),
                HasSubstr("valid JSON"));
}

} // namespace
