#include "support/child_process.hpp"
#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <skein/skein.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;
using support::child_process;
using support::plain_connection;

/// Jobs with keys, and pauses, as several processes see them.
class KeysAcrossProcesses : public ::testing::Test {
protected:
    using child = std::unique_ptr<child_process>;

    [[nodiscard]] child start(const std::string& command, const std::string& argument = {}) const
    {
        std::vector<std::string> arguments{command, path_.string()};
        if (!argument.empty()) {
            arguments.push_back(argument);
        }
        return std::make_unique<child_process>(SKEIN_QUEUE_PROCESS, arguments);
    }

    /// Everything that it still has to say; expects that it ends well.
    static std::vector<std::string> rest_of(child_process& process)
    {
        std::vector<std::string> lines;
        while (auto line = process.read_line()) {
            lines.push_back(*std::move(line));
        }
        EXPECT_EQ(process.wait(), 0);
        return lines;
    }

    [[nodiscard]] int number(const std::string& query) const
    {
        return std::stoi(file_.value(query));
    }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    plain_connection file_{path_};
};

TEST_F(KeysAcrossProcesses, OneOfManyEnqueuesCreatesAUniqueJob)
{
    std::vector<child> all;
    for (int each = 0; each < 4; ++each) {
        all.push_back(start("enqueue_unique", "8"));
    }
    for (const child& each : all) {
        EXPECT_EQ(each->read_line(), "ready");
    }
    for (const child& each : all) {
        each->write_line("go");
    }
    std::map<std::string, int> said;
    for (const child& each : all) {
        for (const std::string& line : rest_of(*each)) {
            ++said[line];
        }
    }
    const std::string id = file_.value("SELECT id FROM _honker_live");
    EXPECT_EQ(said, (std::map<std::string, int>{{"created " + id, 1}, {"skipped " + id, 31}}));
}

/// Keys are told by the payloads. How many of a key run is looked at whenever one begins to.
class LimitsUnderKills : public KeysAcrossProcesses {
protected:
    static constexpr int jobs = 2'000;
    static constexpr int keys = 20;
    static constexpr int kills = 20;
    static constexpr std::size_t processes = 4;

    LimitsUnderKills()
    {
        enqueue_all();
        file_.sql("CREATE TABLE account (job INTEGER NOT NULL, attempt INTEGER NOT NULL);"
                  "CREATE TABLE too_many (key, running);"
                  "CREATE TRIGGER watch AFTER UPDATE OF state ON _honker_live"
                  " WHEN NEW.state = 'processing' BEGIN INSERT INTO too_many"
                  " SELECT payload, count(*) FROM _honker_live WHERE state = 'processing'"
                  " AND queue = 'q' AND payload = NEW.payload GROUP BY payload"
                  " HAVING count(*) > 1 + payload % 3; END");
    }

    [[nodiscard]] child start_worker() const { return start("work", "4"); }

    [[nodiscard]] bool is_anything_left() const
    {
        return number("SELECT count(*) FROM _honker_live") != 0;
    }

private:
    void enqueue_all()
    {
        support::manual_database writer(path_);
        std::vector<std::string> texts;
        for (int each = 0; each < keys; ++each) {
            texts.push_back(std::to_string(each));
        }
        std::vector<new_job> wanted;
        for (int each = 0; each < jobs; ++each) {
            const std::string& key = texts[static_cast<std::size_t>(each % keys)];
            enqueue_options options{.max_attempts = 1'000'000};
            options.concurrency = {.key = key, .limit = 1 + each % keys % 3};
            wanted.push_back({.payload = key, .options = options});
        }
        static_cast<void>(writer.run(writer.database().queue("q").enqueue_many(wanted)));
        file_.sql("UPDATE _honker_live SET run_at = 100 WHERE run_at > 100 AND state = 'pending'");
    }
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

TEST_F(LimitsUnderKills, NoKeyIsHeldMoreOftenThanItMayAndNoneIsStuck)
{
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    std::vector<child> workers;
    for (std::size_t each = 0; each < processes; ++each) {
        workers.push_back(start_worker());
    }
    int killed = 0;
    for (int each = 0; each < kills; ++each) {
        child& victim = workers[chance() % processes];
        if (wait_for_jobs(*victim, static_cast<unsigned>(1 + chance() % 40))) {
            victim->kill();
            victim = start_worker();
            ++killed;
        }
    }
    for (const child& each : workers) {
        rest_of(*each);
    }
    for (int each = 0; each < 3 && is_anything_left(); ++each) { // somebody was killed last of all
        rest_of(*start_worker());
    }
    EXPECT_GT(killed, kills / 2);
    EXPECT_EQ(file_.value("SELECT count(*) || ' ' || count(DISTINCT job) FROM account"),
              "2000 2000");
    EXPECT_EQ(number("SELECT max(attempt) > 1 FROM account"), 1) << "nobody held a job";
    EXPECT_THAT(file_.sql("SELECT * FROM too_many"), ::testing::IsEmpty());
    EXPECT_EQ(number("SELECT (SELECT count(*) FROM _skein_limited_jobs)"
                     " + (SELECT count(*) FROM _skein_job_limits)"),
              0);
    EXPECT_EQ(file_.value("PRAGMA integrity_check"), "ok");
}

/// A queue so large that it takes many slices to put its jobs aside, and to give them back.
class PausesUnderKills : public KeysAcrossProcesses {
protected:
    static constexpr int jobs = 20'000;

    PausesUnderKills()
    {
        const std::vector<new_job> wanted(jobs, {.payload = "1"});
        static_cast<void>(db_.run(queue_.enqueue_many(wanted)));
        EXPECT_TRUE(db_.run(queue_.pause()));
        EXPECT_TRUE(db_.run(queue_.resume()));
    }

    [[nodiscard]] int held() const { return number("SELECT count(*) FROM _skein_paused_jobs"); }

    /// Kills it once there are fewer, or more, than so many jobs aside.
    template <class Condition>
    void kill_amidst(const std::string& command, Condition&& is_under_way) const
    {
        const child process = start(command);
        while (!is_under_way(held())) {
        }
        process->kill();
    }

    /// Claims and acknowledges whatever it gets.
    int work_off()
    {
        int done = 0;
        for (std::vector<job> some = claim(); !some.empty(); some = claim()) {
            for (const bool is_ours : db_.run(queue_.ack_many(some))) {
                done += is_ours ? 1 : 0;
            }
        }
        return done;
    }

    support::manual_database db_{path_};
    queue queue_ = db_.database().queue("q");

private:
    std::vector<job> claim() { return db_.run(queue_.try_claim_many(1000)); }
};

TEST_F(PausesUnderKills, APauseThatWasKilledHolds)
{
    kill_amidst("pause", [](int held) { return held > jobs / 4; });
    ASSERT_LT(held(), jobs) << "it was too fast";

    EXPECT_TRUE(db_.run(queue_.is_paused()));
    EXPECT_EQ(work_off(), 0);
    EXPECT_FALSE(db_.run(queue_.pause())); // goes on
    EXPECT_EQ(held(), jobs);

    EXPECT_TRUE(db_.run(queue_.resume()));
    EXPECT_EQ(work_off(), jobs);
    EXPECT_EQ(held(), 0);
}

TEST_F(PausesUnderKills, AResumeThatWasKilledGivesAllJobsBack)
{
    EXPECT_TRUE(db_.run(queue_.pause()));
    kill_amidst("resume", [](int held) { return held < jobs - jobs / 4; });
    ASSERT_GT(held(), 0) << "it was too fast";

    EXPECT_FALSE(db_.run(queue_.is_paused()));
    EXPECT_EQ(work_off(), jobs);
    EXPECT_EQ(held(), 0);
    EXPECT_EQ(file_.value("PRAGMA integrity_check"), "ok");
}

} // namespace
