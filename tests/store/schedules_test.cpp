#include "store/error.hpp"
#include "store/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t now = 1000;

class Schedules : public schedule_file {
protected:
    static new_schedule hourly(std::string_view name)
    {
        return {.name = name, .queue = "q", .expression = "@hourly", .payload = "[1]"};
    }

    static new_schedule berlin(std::string_view name)
    {
        return {.name = name,
                .queue = "q",
                .expression = "CRON_TZ=Europe/Berlin 0 8 * * MON-FRI",
                .payload = "[1]"};
    }

    bool update(std::string_view name, const schedule_change& change, std::int64_t time = now)
    {
        return tables_.write([&] { return schedules_.update(name, change, time); });
    }

    std::string refusal(const new_schedule& added)
    {
        try {
            add(added, now);
            return "accepted";
        } catch (const std::exception& error) {
            return error.what();
        }
    }

    std::vector<std::string> rows(const std::string& table)
    {
        return file().sql("SELECT name, cron_expr FROM " + table + " ORDER BY name");
    }

    std::vector<std::string> shared() { return rows("_honker_scheduler_tasks"); }
    std::vector<std::string> own() { return rows("_skein_schedules"); }
};

TEST_F(Schedules, ThatAllUnderstandAreSharedInNumbersAlone)
{
    add({.name = "a",
         .queue = "q",
         .expression = "0 8 * JAN 7",
         .payload = " [1,  2]",
         .priority = -4,
         .expires_in = 9,
         .max_attempts = 5},
        now);
    EXPECT_THAT(file().sql("SELECT * FROM _honker_scheduler_tasks"),
                ElementsAre("a|q|0 8 * 1 0| [1,  2]|-4|9|" + std::to_string(288000) + "|1|5"));
    EXPECT_THAT(own(), IsEmpty());
}

TEST_F(Schedules, ThatOnlySkeinUnderstandsStandInItsTable)
{
    add(berlin("zone"), now);
    new_schedule each = hourly("end");
    each.ends_at = 1'000'000;
    add(each, now);
    each = hourly("runs");
    each.runs = 3;
    add(each, now);
    each = hourly("once");
    each.missed = missed_moments::once;
    add(each, now);
    each = hourly("skip");
    each.missed = missed_moments::skip;
    each.grace = 5;
    add(each, now);
    each = hourly("overlap");
    each.overlap = overlap_policy::skip;
    add(each, now);
    add(hourly("plain"), now);
    EXPECT_THAT(shared(), ElementsAre("plain|0 * * * *"));
    EXPECT_THAT(own(), ElementsAre("end|0 * * * *", "once|0 * * * *", "overlap|0 * * * *",
                                   "runs|0 * * * *", "skip|0 * * * *",
                                   "zone|CRON_TZ=Europe/Berlin 0 8 * * 1-5"));
    EXPECT_EQ(schedules_.find("end")->ends_at, 1'000'000);
    EXPECT_EQ(schedules_.find("runs")->runs_left, 3);
    EXPECT_EQ(schedules_.find("once")->missed, missed_moments::once);
    EXPECT_EQ(schedules_.find("skip")->missed, missed_moments::skip);
    EXPECT_EQ(schedules_.find("skip")->grace, 5);
    EXPECT_EQ(schedules_.find("overlap")->overlap, overlap_policy::skip);
}

TEST_F(Schedules, AreListedTogetherByName)
{
    add(hourly("c"), now);
    add(berlin("b"), now);
    add(hourly("a"), now);
    std::vector<std::string> names;
    for (const schedule& each : schedules_.list()) {
        names.push_back(each.name);
        EXPECT_EQ(each, schedules_.find(each.name));
    }
    EXPECT_THAT(names, ElementsAre("a", "b", "c"));
    EXPECT_EQ(schedules_.find("d"), std::nullopt);
    const schedule found = schedules_.find("b").value();
    EXPECT_EQ(found.queue, "q");
    EXPECT_EQ(found.payload, "[1]");
    EXPECT_EQ(found.next_fire_at, 25200) << "08:00 in Berlin was 07:00 UTC, on a Thursday";
}

TEST_F(Schedules, AreReplacedButForWhetherTheyAreEnabled)
{
    add(hourly("a"), now);
    EXPECT_TRUE(tables_.write([&] { return schedules_.pause("a"); }));
    new_schedule changed = hourly("a");
    changed.queue = "another";
    changed.expression = "@every 5s";
    add(changed, 2000);
    EXPECT_EQ(schedules_.find("a")->queue, "another");
    EXPECT_EQ(schedules_.find("a")->next_fire_at, 2005);
    EXPECT_FALSE(schedules_.find("a")->is_enabled);
    add(berlin("a"), now);
    EXPECT_FALSE(schedules_.find("a")->is_enabled) << "in the other table";
    EXPECT_THAT(shared(), IsEmpty());
    EXPECT_EQ(own().size(), 1U);
    EXPECT_TRUE(tables_.write([&] { return schedules_.resume("a"); }));
    add(hourly("a"), now);
    EXPECT_TRUE(schedules_.find("a")->is_enabled);
    EXPECT_THAT(own(), IsEmpty());
}

TEST_F(Schedules, OfAnotherProgramReplaceOursOfThatName)
{
    add(berlin("a"), now);
    file().sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, next_fire_at)"
               " VALUES ('a', 'other', '* * * * *', '2', 60)");
    EXPECT_THAT(own(), IsEmpty());
    EXPECT_EQ(schedules_.find("a")->queue, "other");
}

TEST_F(Schedules, ArePausedAndResumedOnce)
{
    add(hourly("shared"), now);
    add(berlin("own"), now);
    for (const std::string_view name : {"shared", "own"}) {
        const auto next = next_of(name);
        EXPECT_FALSE(tables_.write([&] { return schedules_.resume(name); }));
        EXPECT_TRUE(tables_.write([&] { return schedules_.pause(name); }));
        EXPECT_FALSE(tables_.write([&] { return schedules_.pause(name); }));
        EXPECT_EQ(next_of(name), next);
        EXPECT_TRUE(tables_.write([&] { return schedules_.resume(name); }));
        EXPECT_EQ(next_of(name), next);
    }
    EXPECT_FALSE(tables_.write([&] { return schedules_.pause("none"); }));
    EXPECT_FALSE(tables_.write([&] { return schedules_.resume("none"); }));
}

TEST_F(Schedules, AreUnregistered)
{
    add(hourly("shared"), now);
    add(berlin("own"), now);
    for (const std::string_view name : {"shared", "own"}) {
        EXPECT_TRUE(tables_.write([&] { return schedules_.unregister(name); }));
        EXPECT_FALSE(tables_.write([&] { return schedules_.unregister(name); }));
    }
    EXPECT_THAT(schedules_.list(), IsEmpty());
}

TEST_F(Schedules, KnowTheSoonestMomentOfThoseThatAreEnabled)
{
    EXPECT_EQ(schedules_.soonest(), std::nullopt);
    add(berlin("own"), now);
    EXPECT_EQ(schedules_.soonest(), 25200);
    add(hourly("shared"), now);
    EXPECT_EQ(schedules_.soonest(), 3600);
    tables_.write([&] { schedules_.pause("shared"); });
    EXPECT_EQ(schedules_.soonest(), 25200);
    tables_.write([&] { schedules_.pause("own"); });
    EXPECT_EQ(schedules_.soonest(), std::nullopt);
}

TEST_F(Schedules, ThatAreRefusedAreNotWritten)
{
    new_schedule bad = hourly("a");
    bad.expression = "5/15 * * * *";
    EXPECT_THAT(refusal(bad), HasSubstr("5-59/15"));
    bad.expression = "0 0 30 2 *";
    EXPECT_THAT(refusal(bad), HasSubstr("has no moment within 100 years"));
    bad.expression = "CRON_TZ=Europe/Nowhere 0 0 * * *";
    EXPECT_THAT(refusal(bad), HasSubstr("no zone \"Europe/Nowhere\""));
    bad = hourly("a");
    bad.payload = "{";
    EXPECT_THAT(refusal(bad), HasSubstr("payload must be valid JSON"));
    bad = hourly("a");
    bad.max_attempts = 0;
    EXPECT_THAT(refusal(bad), HasSubstr("max_attempts must be at least 1, got 0"));
    bad = hourly("a");
    bad.runs = 0;
    EXPECT_THAT(refusal(bad), HasSubstr("runs must be at least 1, got 0"));
    bad = hourly("a");
    bad.grace = -1;
    EXPECT_THAT(refusal(bad), HasSubstr("grace must not be negative, got -1"));
    bad = hourly("a");
    bad.ends_at = 3599;
    EXPECT_THAT(refusal(bad), HasSubstr("has no moment before the schedule ends"));
    bad.ends_at = 3600;
    EXPECT_EQ(refusal(bad), "accepted");
    EXPECT_EQ(schedules_.list().size(), 1U);
}

TEST_F(Schedules, ChangeOnlyWhatIsGiven)
{
    add(hourly("a"), now);
    const schedule before = schedules_.find("a").value();
    EXPECT_FALSE(update("a", {}));
    EXPECT_TRUE(update("a", {.payload = "2"}, 9999));
    schedule expected = before;
    expected.payload = "2";
    EXPECT_EQ(schedules_.find("a"), expected);
    EXPECT_TRUE(update("a", {.priority = 7, .expires_in = std::optional<std::int64_t>(8)}));
    expected.priority = 7;
    expected.expires_in = 8;
    EXPECT_EQ(schedules_.find("a"), expected);
    EXPECT_TRUE(update("a", {.expires_in = std::optional<std::int64_t>(), .max_attempts = 1}));
    expected.expires_in = std::nullopt;
    expected.max_attempts = 1;
    EXPECT_EQ(schedules_.find("a"), expected);
    EXPECT_TRUE(update("a", {.expression = "*/10 * * * *"}, 9999));
    expected.expression = "*/10 * * * *";
    expected.next_fire_at = 10200;
    EXPECT_EQ(schedules_.find("a"), expected);
}

TEST_F(Schedules, MoveToTheOtherTableWithTheirExpression)
{
    add(hourly("a"), now);
    tables_.write([&] { schedules_.pause("a"); });
    EXPECT_TRUE(update("a", {.expression = "CRON_TZ=UTC 0 9 * * *"}));
    EXPECT_THAT(shared(), IsEmpty());
    EXPECT_THAT(own(), ElementsAre("a|CRON_TZ=UTC 0 9 * * *"));
    EXPECT_FALSE(schedules_.find("a")->is_enabled);
    EXPECT_TRUE(update("a", {.expression = "0 9 * * *"}));
    EXPECT_THAT(shared(), ElementsAre("a|0 9 * * *"));
    EXPECT_THAT(own(), IsEmpty());
}

TEST_F(Schedules, CheckAChangeInTheOrderOfTheFormat)
{
    EXPECT_THROW(update("none", {.payload = "{", .max_attempts = 0}), invalid_argument);
    EXPECT_THROW(update("none", {.payload = "{"}), invalid_payload);
    EXPECT_FALSE(update("none", {.expression = "bad"}));
    add(hourly("a"), now);
    EXPECT_THROW(update("a", {.expression = "bad", .payload = "2"}), invalid_argument);
    EXPECT_EQ(schedules_.find("a")->payload, "[1]");
}

TEST_F(Schedules, WhoseStoredExpressionIsBadCanBeMended)
{
    file().sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, next_fire_at)"
               " VALUES ('a', 'q', 'nonsense', 'no json', 60)");
    EXPECT_TRUE(update("a", {.payload = "1"}));
    EXPECT_EQ(schedules_.find("a")->expression, "nonsense");
    EXPECT_TRUE(update("a", {.expression = "@daily"}));
    EXPECT_EQ(schedules_.find("a")->next_fire_at, 86400);
}

TEST_F(Schedules, OfAPlainFileAreThoseThatAllUnderstand)
{
    const skein::support::plain_connection plain_file(directory_ / "plain.db");
    plain_file.sql(schedule_tables().statements.front());
    const skein::sqlite::connection connection(plain_file.handle());
    schedules plain(connection, inspect_schedules(connection));
    plain.register_schedule(hourly("a"), now);
    EXPECT_THROW(plain.register_schedule(berlin("b"), now), invalid_argument);
    EXPECT_TRUE(plain.update("a", {.priority = 2}, now));
    EXPECT_EQ(plain.soonest(), 3600);
    EXPECT_EQ(plain.list().size(), 1U);
    EXPECT_TRUE(plain.pause("a"));
    EXPECT_TRUE(plain.resume("a"));
    EXPECT_TRUE(plain.unregister("a"));
    EXPECT_EQ(plain.find("a"), std::nullopt);
}

} // namespace
