#include "schedule/schedule_fixture.hpp"

#include <limits>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::at;
using support::refusal_of;
using ::testing::HasSubstr;

class Changing : public support::schedule_fixture {
protected:
    bool update(std::string_view name, const schedule_change& change)
    {
        return db_.run(scheduler_.update(name, change));
    }

    std::string refusal(const schedule_change& change)
    {
        return refusal_of([&] { update("s", change); });
    }

    int row_changes() { return std::stoi(value("SELECT count(*) FROM _honker_scheduler_tasks")); }
};

TEST_F(Changing, KeepsTheNextMomentUnlessTheExpressionIsAnother)
{
    add("s", "@every 1m");
    db_.advance(30s);
    EXPECT_TRUE(update("s", {.payload = "1", .priority = 5, .expires_in = 9s, .max_attempts = 8}));
    const schedule found = find("s");
    EXPECT_EQ(found.payload, "1");
    EXPECT_EQ(found.priority, 5);
    EXPECT_EQ(found.expires_in, 9s);
    EXPECT_EQ(found.max_attempts, 8);
    EXPECT_EQ(found.next_at, at(160));
    EXPECT_TRUE(update("s", {.expression = "@every 5s"}));
    EXPECT_EQ(find("s").next_at, at(135));
    EXPECT_EQ(find("s").payload, "1");
}

TEST_F(Changing, GivesAndTakesWhatOnlySkeinUnderstands)
{
    add("s", "@every 1m");
    EXPECT_TRUE(update("s", {.ends_at = at(1000),
                             .runs = 4,
                             .missed = missed_moments::skip,
                             .grace = 5s,
                             .overlap = overlap_policy::skip}));
    EXPECT_EQ(row_changes(), 0);
    schedule found = find("s");
    EXPECT_EQ(found.ends_at, at(1000));
    EXPECT_EQ(found.runs_left, 4);
    EXPECT_EQ(found.missed, missed_moments::skip);
    EXPECT_EQ(found.grace, 5s);
    EXPECT_EQ(found.overlap, overlap_policy::skip);
    EXPECT_EQ(found.next_at, at(160));

    EXPECT_TRUE(update("s", {.expires_in = std::chrono::seconds::max(),
                             .ends_at = clock::wall_time::max(),
                             .runs = std::numeric_limits<std::int64_t>::max(),
                             .missed = missed_moments::all,
                             .overlap = overlap_policy::allow}));
    EXPECT_EQ(row_changes(), 1);
    found = find("s");
    EXPECT_EQ(found.expires_in, std::nullopt);
    EXPECT_EQ(found.ends_at, std::nullopt);
    EXPECT_EQ(found.runs_left, std::nullopt);
    EXPECT_EQ(found.next_at, at(160));
}

TEST_F(Changing, ReturnsFalseWhenThereIsNothingToChange)
{
    add("s", "@every 1m");
    EXPECT_FALSE(update("s", {}));
    EXPECT_FALSE(update("t", {.payload = "1"}));
}

TEST_F(Changing, RefusesWhatAddingRefuses)
{
    add("s", "@every 1m");
    const schedule before = find("s");
    EXPECT_THAT(refusal({.expression = "60 * * * *"}), HasSubstr("60"));
    EXPECT_THAT(refusal({.expression = "0 0 13 * 5"}), HasSubstr("both_days"));
    EXPECT_THAT(refusal({.expression = "0 0 30 2 *"}), HasSubstr("no moment"));
    EXPECT_THAT(refusal({.max_attempts = 0}), HasSubstr("max_attempts"));
    EXPECT_THAT(refusal({.ends_at = at(110)}), HasSubstr("before the schedule ends"));
    EXPECT_THAT(refusal({.runs = 0}), HasSubstr("runs"));
    EXPECT_THAT(refusal({.missed = missed_moments::once, .grace = 1s}), HasSubstr("grace"));
    EXPECT_THAT(refusal({.missed = missed_moments::skip, .grace = -1s}), HasSubstr("grace"));
    EXPECT_EQ(find("s").expression, before.expression);
    EXPECT_EQ(find("s").next_at, before.next_at);
    EXPECT_TRUE(update("s", {.expression = "0 0 13 * 5", .both_days = true}));
}

TEST_F(Changing, PausesAndResumes)
{
    add("shared", "@every 1m");
    add("own", "CRON_TZ=UTC * * * * *");
    for (const char* name : {"shared", "own"}) {
        EXPECT_FALSE(db_.run(scheduler_.resume(name)));
        EXPECT_TRUE(db_.run(scheduler_.pause(name)));
        EXPECT_FALSE(db_.run(scheduler_.pause(name)));
        EXPECT_TRUE(find(name).is_paused);
        EXPECT_TRUE(db_.run(scheduler_.resume(name)));
        EXPECT_FALSE(find(name).is_paused);
    }
    EXPECT_FALSE(db_.run(scheduler_.pause("none")));
}

TEST_F(Changing, RemovesFromEitherTable)
{
    add("shared", "@every 1m");
    add("own", "CRON_TZ=UTC * * * * *");
    EXPECT_TRUE(db_.run(scheduler_.remove("shared")));
    EXPECT_TRUE(db_.run(scheduler_.remove("own")));
    EXPECT_FALSE(db_.run(scheduler_.remove("own")));
    EXPECT_TRUE(db_.run(scheduler_.list()).empty());
}

TEST_F(Changing, GoesOnWithOneThatHadComeToItsEnd)
{
    add("s", "@every 10s", {.runs = 1});
    const auto running = run();
    db_.advance(10s);
    EXPECT_EQ(jobs(), 1);
    EXPECT_EQ(find("s").next_at, std::nullopt);
    EXPECT_EQ(find("s").runs_left, 0);
    db_.advance(100s);
    EXPECT_EQ(jobs(), 1);
    EXPECT_TRUE(update("s", {.runs = 2}));
    db_.settle();
    EXPECT_EQ(find("s").next_at, at(220));
    db_.advance(10s);
    db_.advance(10s);
    db_.advance(10s);
    EXPECT_EQ(jobs(), 3);
}

} // namespace
