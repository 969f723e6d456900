#include "support/child_process.hpp"
#include "support/other_process.hpp"
#include "support/plain_connection.hpp"
#include "support/run_coroutine.hpp"
#include "support/temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::child_process;
using support::plain_connection;
using support::run_coroutine;

constexpr std::size_t processes = 4;
constexpr int schedules = 5;
constexpr int moments = 60;
constexpr int begin = 1'000'000'000;

/// Schedulers in several processes, whose wall clocks are put forward together.
class SchedulersUnderKills : public ::testing::Test {
protected:
    SchedulersUnderKills()
    {
        file_.sql("PRAGMA journal_mode = WAL");
        for (const auto& statements : {schema::queue(), schema::schedules()}) {
            for (const std::string& each : statements) {
                file_.sql(each);
            }
        }
        for (int each = 0; each < schedules; ++each) {
            add("_honker_scheduler_tasks", "name, queue, cron_expr, payload, next_fire_at",
                "'shared " + std::to_string(each) + "', 'shared " + std::to_string(each) +
                    "', '@every1s', 'null', " + std::to_string(begin + 1));
            add("_skein_schedules",
                "name, queue, cron_expr, payload, priority, next_fire_at, enabled, max_attempts,"
                " missed, grace_s, overlap",
                "'own " + std::to_string(each) + "', 'own " + std::to_string(each) +
                    "', 'CRON_TZ=UTC * * * * * *', 'null', 0, " + std::to_string(begin + 1) +
                    ", 1, 3, 'all', 60, 'allow'");
        }
        for (auto& each : all_) {
            each = start(begin);
        }
    }

    void add(const std::string& table, const std::string& columns, const std::string& values) const
    {
        file_.sql("INSERT INTO " + table + " (" + columns + ") VALUES (" + values + ")");
    }

    [[nodiscard]] std::unique_ptr<child_process> start(int second) const
    {
        return std::make_unique<child_process>(
            SKEIN_SCHEDULER_PROCESS,
            std::vector<std::string>{path_.string(), std::to_string(second)});
    }

    /// The numbers of jobs that the schedules have enqueued, each once.
    [[nodiscard]] std::string jobs_of_each() const
    {
        return file_.value("SELECT group_concat(DISTINCT jobs) FROM"
                           " (SELECT count(*) AS jobs FROM _honker_live GROUP BY queue)");
    }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    plain_connection file_{path_};
    std::array<std::unique_ptr<child_process>, processes> all_;
};

TEST_F(SchedulersUnderKills, GiveEachMomentItsJobExactlyOnce)
{
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    int second = begin;
    for (int moment = 1; moment <= moments; ++moment) {
        second += 1;
        for (const auto& each : all_) {
            each->write_line(std::to_string(second));
        }
        // Just when they are about to tick, or when one of them has.
        const std::size_t victim = chance() % processes;
        const bool is_late = chance() % 2 == 0;
        if (is_late) {
            EXPECT_EQ(all_[(victim + 1) % processes]->read_line(), "served");
        }
        all_[victim]->kill();
        for (std::size_t each = 0; each < processes; ++each) {
            if (each != victim && !(is_late && each == (victim + 1) % processes)) {
                ASSERT_EQ(all_[each]->read_line(), "served");
            }
        }
        ASSERT_EQ(jobs_of_each(), std::to_string(moment));
        all_[victim] = start(second);
    }
    EXPECT_EQ(file_.value("SELECT count(*) FROM _honker_live"),
              std::to_string(2 * schedules * moments));
    EXPECT_EQ(file_.value("PRAGMA integrity_check"), "ok");
}

/// A program that knows the format alone, and ticks as its functions do.
TEST(SchedulerBesideAnotherProgram, ServesItsSchedulesAndLeavesWhatItHasServed)
{
    const support::temporary_directory directory;
    const std::filesystem::path path = directory / "test.db";
    asio::io_context context;
    std::optional<database> db(std::in_place, path,
                               database_options{.durability = durability::off});
    run_coroutine(context, db->queue("q").enqueue("null"));
    run_coroutine(context, db->scheduler().add("s", "q", "0 0 1 1 *", "null"));
    db.reset(); // no descriptor of the file is open at the fork
    support::other_process other(path);

    // What it has ticked is not ticked again.
    other.sql("BEGIN IMMEDIATE");
    other.sql("UPDATE _honker_scheduler_tasks SET next_fire_at = unixepoch() + 3600");
    other.sql("INSERT INTO _honker_live (queue, payload) VALUES ('q', '1')");
    other.sql("COMMIT");
    db.emplace(path);
    support::operation<void> running(context, db->scheduler().run());
    EXPECT_GT(run_coroutine(context, db->scheduler().soonest()),
              std::chrono::system_clock::now() + 30min);
    EXPECT_EQ(other.sql("SELECT count(*) FROM _honker_live").front(), "2");

    // What it registers is served here.
    other.sql("INSERT INTO _honker_scheduler_tasks (name, queue, cron_expr, payload, next_fire_at)"
              " VALUES ('t', 'theirs', '@every1h', 'null', unixepoch() - 1)");
    const job given = run_coroutine(context, db->queue("theirs").claim());
    EXPECT_EQ(given.payload(), "null");
}

} // namespace
