#include "support/child_process.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <skein/schema.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace skein;
using support::child_process;
using support::plain_connection;

constexpr int jobs = 3'000;
constexpr int kills = 16;
constexpr std::size_t processes = 3;

class WorkerProcesses : public ::testing::Test {
protected:
    WorkerProcesses()
    {
        file_.sql("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
        for (const std::string& each : schema::queue()) {
            file_.sql(each);
        }
        file_.sql("CREATE TABLE runs (job INTEGER NOT NULL, attempt INTEGER NOT NULL);"
                  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
                  std::to_string(jobs) +
                  ") INSERT INTO _honker_live (queue, payload, max_attempts)"
                  " SELECT 'q', i, 1000000 FROM n; COMMIT");
    }

    [[nodiscard]] std::unique_ptr<child_process> start() const
    {
        auto worker = std::make_unique<child_process>(
            SKEIN_RUN_PROCESS, std::vector<std::string>{path_.string(), "8"});
        EXPECT_EQ(worker->read_line(), "ready");
        return worker;
    }

    [[nodiscard]] int count(const std::string& query) const
    {
        return std::stoi(file_.value("SELECT count(*) FROM " + query));
    }

    /// Waits for so many more runs, or for the end.
    void wait_for_runs(int more) const
    {
        const int wanted = std::min(count("runs") + more, jobs);
        while (count("runs") < wanted) {
            std::this_thread::yield();
        }
    }

    void wait_for_the_last_job() const
    {
        while (count("_honker_live") != 0) {
            std::this_thread::yield();
        }
    }

    static void stop(child_process& worker)
    {
        ::kill(worker.id(), SIGTERM);
        EXPECT_EQ(worker.wait(), 0);
    }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    plain_connection file_{path_};
};

TEST_F(WorkerProcesses, RunAgainWhatAKilledOneHadAndLoseNothing)
{
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    std::vector<std::unique_ptr<child_process>> workers;
    for (std::size_t each = 0; each < processes; ++each) {
        workers.push_back(start());
    }
    for (int each = 0; each < kills; ++each) {
        std::unique_ptr<child_process>& victim = workers[chance() % processes];
        wait_for_runs(static_cast<int>(1 + chance() % 100));
        victim->kill();
        victim = start();
    }
    wait_for_the_last_job();
    for (const auto& each : workers) {
        stop(*each);
    }
    EXPECT_EQ(file_.value("SELECT count(DISTINCT job) FROM runs"), std::to_string(jobs));
    EXPECT_EQ(file_.value("SELECT max(attempt) > 1 FROM runs"), "1") << "nobody held a job";
    EXPECT_EQ(count("_honker_results"), jobs);
    EXPECT_EQ(count("_honker_dead"), 0);
    EXPECT_EQ(file_.value("PRAGMA integrity_check"), "ok");
}

TEST_F(WorkerProcesses, GiveBackEverythingWhenTheyAreStopped)
{
    for (int each = 0; each < 5; ++each) {
        const auto worker = start();
        wait_for_runs(20);
        stop(*worker);
        EXPECT_EQ(count("_honker_live WHERE state != 'pending'"), 0);
    }
    EXPECT_EQ(file_.value("SELECT count(*) = count(DISTINCT job) FROM runs"), "1");
    EXPECT_EQ(count("runs") + count("_honker_live"), jobs);
}

} // namespace
