#include "support/child_process.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <skein/schema.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein;
using support::child_process;
using support::plain_connection;

constexpr int jobs = 10'000;
constexpr int kills = 40;
constexpr std::size_t processes = 4;
constexpr const char* claimers = "4"; // in each process

/// Workers in processes that are killed while they work.
class QueueUnderKills : public ::testing::Test {
protected:
    QueueUnderKills()
    {
        file_.sql("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
        for (const std::string& each : schema::queue()) {
            file_.sql(each);
        }
        file_.sql("CREATE TABLE account (job INTEGER NOT NULL, attempt INTEGER NOT NULL);"
                  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
                  std::to_string(jobs) +
                  ") INSERT INTO _honker_live (queue, payload, max_attempts)"
                  " SELECT 'q', i, 1000000 FROM n; COMMIT");
    }

    [[nodiscard]] std::unique_ptr<child_process> start_worker() const
    {
        return std::make_unique<child_process>(
            SKEIN_QUEUE_PROCESS, std::vector<std::string>{"work", path_.string(), claimers});
    }

    [[nodiscard]] bool is_anything_left() const
    {
        return file_.value("SELECT count(*) FROM _honker_live") != "0";
    }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    plain_connection file_{path_};
};

/// Lets it do so many jobs. Returns false when it has ended before.
bool wait_for_jobs(child_process& worker, unsigned count)
{
    for (unsigned each = 0; each < count; ++each) {
        if (!worker.read_line()) {
            return false;
        }
    }
    return true;
}

void wait_for_the_end(child_process& worker)
{
    while (worker.read_line()) {
    }
    EXPECT_EQ(worker.wait(), 0);
}

TEST_F(QueueUnderKills, EveryJobIsFinishedExactlyOnceAndNoneIsLost)
{
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    std::vector<std::unique_ptr<child_process>> workers;
    for (std::size_t each = 0; each < processes; ++each) {
        workers.push_back(start_worker());
    }
    int killed = 0;
    for (int each = 0; each < kills; ++each) {
        std::unique_ptr<child_process>& victim = workers[chance() % processes];
        if (wait_for_jobs(*victim, static_cast<unsigned>(1 + chance() % 100))) {
            victim->kill();
            victim = start_worker();
            ++killed;
        }
    }
    for (const auto& each : workers) {
        wait_for_the_end(*each);
    }
    while (is_anything_left()) { // somebody was killed last of all
        wait_for_the_end(*start_worker());
    }
    EXPECT_GT(killed, kills / 2);
    EXPECT_EQ(file_.value("SELECT count(*) || ' ' || count(DISTINCT job) FROM account"),
              "10000 10000");
    EXPECT_EQ(file_.value("SELECT max(attempt) > 1 FROM account"), "1") << "nobody held a job";
    EXPECT_EQ(file_.value("SELECT count(*) FROM _honker_dead"), "0");
    EXPECT_EQ(file_.value("PRAGMA integrity_check"), "ok");
}

} // namespace
