#include "store/schedule_file.hpp"
#include "support/statement_cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using namespace skein::store;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t now = 1000;

/// Ten schedules that are due in each table, among so many that are not.
class measurement : public schedule_file {
public:
    explicit measurement(int others)
    {
        const std::string numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1"
                                    " FROM n LIMIT " +
                                    std::to_string(others + 10) + ") ";
        const std::string common =
            "'s' || i, 'q', '@every 1h', '1', 0, iif(i <= 10, 900, 100000 + i), 1, 3";
        file().sql("BEGIN");
        file().sql(numbers +
                   "INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, priority,"
                   " next_fire_at, enabled, max_attempts) SELECT " +
                   common + " FROM n");
        file().sql(
            numbers +
            "INSERT INTO _skein_schedules (name, queue, cron_expr, payload, priority,"
            " next_fire_at, enabled, max_attempts, missed, grace_s, overlap) SELECT 'own' || " +
            common + ", 'once', 60, 'skip' FROM n");
        // As many have come to their end, and as many are paused while they are due.
        file().sql(numbers +
                   "INSERT INTO _skein_schedules (name, queue, cron_expr, payload, priority,"
                   " next_fire_at, enabled, max_attempts, missed, grace_s, overlap)"
                   " SELECT 'ended' || i, 'q', '@every 1h', '1', 0, NULL, 1, 3, 'all', 60, 'allow'"
                   " FROM n");
        file().sql(numbers +
                   "INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload,"
                   " next_fire_at, enabled) SELECT 'paused' || i, 'q', '@every 1h', '1', 900, 0"
                   " FROM n");
        file().sql("COMMIT");
    }

    void TestBody() override {}

    template <class Work>
    void count(const std::string& name, Work&& work)
    {
        costs_[name] =
            skein::support::steps_of(file().handle(), [&] { tables_.write([&] { work(); }); });
    }

    void run()
    {
        count("soonest", [&] { EXPECT_EQ(schedules_.soonest(), 900); });
        count("soonest after", [&] { EXPECT_EQ(schedules_.soonest_after(900), 100011); });
        count("tick", [&] { EXPECT_EQ(ticker_.tick(now, now).fires.size(), 20U); });
        count("tick of nothing", [&] { EXPECT_EQ(ticker_.tick(now, now).fires.size(), 0U); });
        count("find", [&] { EXPECT_TRUE(schedules_.find("owns50")); });
        count("register", [&] {
            schedules_.register_schedule(
                {.name = "s50", .queue = "q", .expression = "@hourly", .payload = "1"}, now);
        });
        count("register ours", [&] {
            schedules_.register_schedule(
                {.name = "n", .queue = "q", .expression = "@hourly", .payload = "1", .runs = 2},
                now);
        });
        count("update", [&] { schedules_.update("s50", {.priority = 4}, now); });
        count("move", [&] {
            EXPECT_TRUE(schedules_.update("s50", {.runs = std::optional<std::int64_t>(4)}, now));
        });
        count("move back", [&] {
            EXPECT_TRUE(schedules_.update("s50", {.runs = std::optional<std::int64_t>()}, now));
        });
        count("pause", [&] { schedules_.pause("s50"); });
        count("resume", [&] { schedules_.resume("s50"); });
        count("unregister", [&] { schedules_.unregister("s50"); });
        plans_ = skein::support::query_plans(file().handle());
    }

    std::size_t list_all()
    {
        const std::size_t count = schedules_.list().size();
        plans_ = skein::support::query_plans(file().handle());
        return count;
    }

    std::map<std::string, long> costs_;
    std::vector<std::string> plans_;
};

TEST(ScheduleFlatness, CostsWhatIsDueHoweverManySchedulesThereAre)
{
    measurement few(100);
    measurement many(10'000);
    few.run();
    many.run();
    for (const auto& [name, steps] : few.costs_) {
        EXPECT_GT(steps, 0) << name;
        EXPECT_LE(many.costs_.at(name), steps + steps / 10) << name;
    }
    EXPECT_GE(many.plans_.size(), 10U);
    for (const std::string& each : many.plans_) {
        EXPECT_THAT(each, Not(HasSubstr("TEMP B-TREE")));
        EXPECT_THAT(each, Not(HasSubstr("=> SCAN _")));
    }
}

TEST(ScheduleFlatness, ListsWithoutSorting)
{
    measurement some(100);
    EXPECT_EQ(some.list_all(), 440U);
    for (const std::string& each : some.plans_) {
        EXPECT_THAT(each, Not(HasSubstr("TEMP B-TREE")));
    }
}

} // namespace
