#include "store/older_queue_program.hpp"
#include "support/child_process.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace skein;
using support::child_process;
using support::plain_connection;
using ::testing::ElementsAre;

class QueueAcrossProcesses : public ::testing::Test {
protected:
    using processes = std::vector<std::unique_ptr<child_process>>;

    static std::unique_ptr<child_process> start(const std::vector<std::string>& arguments)
    {
        return std::make_unique<child_process>(SKEIN_QUEUE_PROCESS, arguments);
    }

    /// Everything it still has to say; expects that it ends well.
    static std::vector<std::string> rest_of(child_process& process)
    {
        std::vector<std::string> lines;
        while (auto line = process.read_line()) {
            lines.push_back(*std::move(line));
        }
        EXPECT_EQ(process.wait(), 0);
        return lines;
    }

    /// Lets them go at the same moment. Returns how often each thing was said.
    static std::map<std::string, int> let_go(const processes& all)
    {
        for (const auto& each : all) {
            EXPECT_EQ(each->read_line(), "ready");
        }
        for (const auto& each : all) {
            each->write_line("go");
        }
        std::map<std::string, int> said;
        for (const auto& each : all) {
            for (const std::string& line : rest_of(*each)) {
                ++said[line];
            }
        }
        return said;
    }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
};

/// The numbers from `first` to `last`, as rows tell them.
std::vector<std::string> numbers(int first, int last)
{
    std::vector<std::string> all;
    for (int each = first; each <= last; ++each) {
        all.push_back(std::to_string(each));
    }
    return all;
}

std::vector<std::string> both(std::vector<std::string> some, const std::vector<std::string>& more)
{
    some.insert(some.end(), more.begin(), more.end());
    return some;
}

class QueueMigrationAcrossProcesses : public QueueAcrossProcesses,
                                      public ::testing::WithParamInterface<store::queue_format> {
protected:
    /// So many, a quarter of them with each operation that may be the first.
    static processes start_openers(const std::filesystem::path& file, int count)
    {
        constexpr const char* operations[] = {"enqueue", "claim", "save", "wait"};
        processes all;
        for (int each = 0; each < count; ++each) {
            all.push_back(start({"open", file.string(), operations[each % 4]}));
        }
        return all;
    }

    /// Ten jobs, numbered from `first` on.
    static void add_ten(const plain_connection& file, int first, const std::string& values)
    {
        file.sql("WITH RECURSIVE n (i) AS (SELECT " + std::to_string(first) +
                 " UNION ALL SELECT i + 1 FROM n LIMIT 10)"
                 " INSERT INTO _honker_live (id, queue, payload, state, run_at, worker_id,"
                 " claim_expires_at, attempts, max_attempts, created_at) SELECT i, 'q', i, " +
                 values + ", 7 FROM n");
    }

    /// Makes the older tables, with jobs of every kind in them, and a log of what is done to them.
    static void fill(const plain_connection& file)
    {
        store::create_queue_format(file, GetParam());
        add_ten(file, 1, "'pending', 99999999999, NULL, NULL, 1, 3");
        add_ten(file, 11, "'pending', 0, NULL, NULL, 3, 3");
        add_ten(file, 21, "'pending', 99999999999, NULL, NULL, 3, 3");
        add_ten(file, 31, "'processing', 0, 'w', 99999999999, 1, 3");
        add_ten(file, 41, "'processing', 0, 'w', 1, 3, 3");
        add_ten(file, 51, "'processing', 0, 'w', 1, 1, 3");
        add_ten(file, 61, "'pending', 0, NULL, NULL, 0, 3");
        file.sql("CREATE TABLE log (what, id);"
                 "CREATE TRIGGER moves AFTER UPDATE ON _honker_live"
                 " WHEN OLD.state = 'pending' AND NEW.state = 'scheduled'"
                 " BEGIN INSERT INTO log VALUES ('moved', NEW.id); END;"
                 "CREATE TRIGGER deaths AFTER INSERT ON _honker_dead"
                 " BEGIN INSERT INTO log VALUES ('died', NEW.id); END");
    }

    /// Each thing that the migration does to a job has happened, and once.
    static void expect_migrated(const plain_connection& file)
    {
        EXPECT_EQ(file.sql("SELECT id FROM log WHERE what = 'moved' ORDER BY id"),
                  both(numbers(1, 10), numbers(21, 30)));
        EXPECT_EQ(file.sql("SELECT id FROM log WHERE what = 'died' ORDER BY id"),
                  both(numbers(11, 30), numbers(41, 50)))
            << "those without attempts left, and those that claims have found lapsed";
        EXPECT_THAT(file.sql("SELECT DISTINCT last_error FROM _honker_dead"),
                    ElementsAre("max attempts exceeded"));
        EXPECT_EQ(file.sql("SELECT id FROM _honker_live WHERE state = 'scheduled' ORDER BY id"),
                  numbers(1, 10));
        EXPECT_EQ(file.sql("SELECT id FROM _honker_live WHERE state = 'processing'"
                           " AND worker_id = 'w' AND claim_expires_at = 99999999999"
                           " AND attempts = 1 AND claimed_at IS NULL ORDER BY id"),
                  numbers(31, 40));
    }

    /// Returns how many jobs were said to be done; expects that each is gone, once.
    static int count_done(const plain_connection& file, const std::map<std::string, int>& said)
    {
        const std::string done = "done ";
        int count = 0;
        for (const auto& [line, times] : said) {
            if (line.starts_with(done)) {
                EXPECT_EQ(times, 1) << line;
                EXPECT_EQ(file.value("SELECT count(*) FROM _honker_live WHERE id = " +
                                     line.substr(done.size())),
                          "0");
                ++count;
            } else {
                EXPECT_THAT(line, ::testing::MatchesRegex("enqueued [0-9]+|saved|live"));
            }
        }
        return count;
    }
};

TEST_P(QueueMigrationAcrossProcesses, IsDoneOnceByManyWhoOpenTheFileTogether)
{
    const plain_connection file(path_);
    fill(file);
    const auto said = let_go(start_openers(path_, 16));
    expect_migrated(file);
    EXPECT_EQ(count_done(file, said), 4);
    EXPECT_EQ(file.value("SELECT count(*) FROM _honker_live WHERE id BETWEEN 51 AND 70"), "16");
    EXPECT_EQ(file.value("SELECT count(*) FROM _honker_live WHERE payload = '\"new\"'"), "4");
    EXPECT_EQ(file.value("SELECT job_id, value FROM _honker_results"), "1|\"saved\"");
    EXPECT_EQ(file.value("PRAGMA integrity_check"), "ok");
}

TEST_P(QueueMigrationAcrossProcesses, MakesTheSameByManyAsByOne)
{
    const std::filesystem::path other_path = directory_ / "alone.db";
    const plain_connection together(path_);
    const plain_connection alone(other_path);
    fill(together);
    fill(alone);
    let_go(start_openers(path_, 8));
    let_go(start_openers(other_path, 1));
    const std::string schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema";
    EXPECT_EQ(together.sql(schema), alone.sql(schema));
    EXPECT_EQ(together.value("SELECT * FROM _skein_meta"), "queue|1");
    // It counts the changes of the schema.
    EXPECT_EQ(together.value("PRAGMA schema_version"), alone.value("PRAGMA schema_version"));
}

INSTANTIATE_TEST_SUITE_P(OfEveryOlderShape, QueueMigrationAcrossProcesses,
                         ::testing::Values(store::queue_format::without_claimed_at,
                                           store::queue_format::without_scheduled));

} // namespace
