#include "schedule/failing_fixture.hpp"

#include "support/statement_counter.hpp"

#include <string>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::at;
using ::testing::HasSubstr;

class RefusedSchedule : public support::failing_fixture {};

TEST_F(RefusedSchedule, DoesNotKeepTheOthersBack)
{
    add("good", "@every 1s");
    add("own", "CRON_TZ=UTC * * * * * *");
    add_refused();
    const auto running = run();
    for (int moment = 1; moment <= 100; ++moment) {
        db_.advance(1s);
        ASSERT_EQ(jobs(), 2 * moment);
    }
    // After 0, 1, 3, 7, 15, 31, and 63 s.
    EXPECT_EQ(warnings_->size(), 7U);
    EXPECT_THAT(warnings_->front(), HasSubstr("schedule \"bad\" is not served"));
    EXPECT_THAT(warnings_->front(), HasSubstr("61"));
    EXPECT_EQ(find("bad").next_at, at(101));
}

TEST_F(RefusedSchedule, IsServedOnceItIsRepaired)
{
    add_refused();
    const auto running = run();
    db_.advance(20s);
    EXPECT_EQ(jobs(), 0);
    db_.run(scheduler_.update("bad", {.expression = "@every 1s"}));
    db_.advance(1s);
    EXPECT_EQ(jobs(), 1);
}

TEST_F(RefusedSchedule, IsRepairedByAnotherProgram)
{
    add_refused();
    const auto running = run();
    db_.advance(2s);
    other_.sql("UPDATE _honker_scheduler_tasks SET cron_expr = '@every1s'");
    db_.advance(1ms);
    EXPECT_EQ(jobs(), 0);
    db_.advance(2s); // with the next try
    EXPECT_GT(jobs(), 0);
}

TEST_F(RefusedSchedule, DoesNotKeepBackWhatIsOverdue)
{
    add("resting", "@every 10s");
    db_.run(scheduler_.pause("resting"));
    add_refused();
    const auto running = run();
    pass_seconds(40); // the next try is far away
    EXPECT_EQ(jobs(), 0);
    db_.run(scheduler_.resume("resting"));
    db_.settle();
    EXPECT_EQ(jobs(), 4);
    add_foreign("late", "@every 1h", 120);
    db_.advance(1ms);
    EXPECT_EQ(jobs(), 5);
}

TEST_F(RefusedSchedule, DoesNotKeepTheOthersBackWhenTheClockIsSetBack)
{
    add_refused();
    const auto running = run();
    pass_seconds(40);
    db_.clock().set_wall(at(50));
    add("s", "@every 5s");
    pass_seconds(5);
    EXPECT_EQ(jobs(), 1);
}

TEST_F(RefusedSchedule, IsNotTriedSoonerBecauseOthersCommit)
{
    add_refused();
    const auto running = run();
    pass_seconds(40);
    const support::statement_counter counter(db_.handle());
    for (int commit = 0; commit < 50; ++commit) {
        other_.sql("UPDATE _honker_scheduler_tasks SET priority = priority + 1");
        db_.advance(1ms);
    }
    EXPECT_EQ(counter.count("BEGIN"), 0U);
}

TEST_F(RefusedSchedule, IsToldInOneShortLineWhateverItsName)
{
    using namespace std::string_view_literals;
    add("new\nline\0and\xFF"sv, "@every 1s");
    add(std::string(5'000'000, 'n'), "@every 1s");
    other_.sql(
        "UPDATE _honker_scheduler_tasks SET cron_expr = '@every a' || char(10, 13, 9) || 'b'");
    const auto running = run();
    db_.advance(1s);
    ASSERT_EQ(warnings_->size(), 2U);
    EXPECT_THAT(warnings_->front(), HasSubstr("schedule \"new line"));
    for (const std::string& each : *warnings_) {
        EXPECT_THAT(each, ::testing::Not(::testing::ContainsRegex("[[:cntrl:]]")));
        EXPECT_EQ(each.find('\xFF'), std::string::npos);
        EXPECT_LT(each.size(), 1000U);
    }
}

TEST_F(RefusedSchedule, IsToldOfWithTheOthersWhenThereAreMany)
{
    for (int number = 100; number < 115; ++number) {
        add_refused(std::to_string(number));
    }
    const auto running = run();
    db_.advance(1s);
    ASSERT_EQ(warnings_->size(), 11U);
    EXPECT_THAT(warnings_->front(), HasSubstr("\"100\""));
    EXPECT_THAT(warnings_->back(),
                HasSubstr("5 more schedules are not served; the next try is in 1 s"));
    db_.advance(1s);
    EXPECT_EQ(warnings_->size(), 22U);
}

} // namespace
