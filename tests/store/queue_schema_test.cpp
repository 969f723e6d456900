#include "store/error.hpp"
#include "store/older_queue_program.hpp"
#include "store/queue/queue_schema.hpp"
#include "store/queue/queue_statements.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using namespace skein::store;
using skein::support::plain_connection;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t now = 1000;

void create(const plain_connection& file, std::int64_t time = now)
{
    file.sql("BEGIN IMMEDIATE");
    create_queue(skein::sqlite::connection(file.handle()), time);
    file.sql("COMMIT");
}

queue_shape shape(const plain_connection& file)
{
    return inspect_queue(skein::sqlite::connection(file.handle()));
}

std::vector<std::string> columns(const plain_connection& file, const std::string& table)
{
    return file.sql("SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('" +
                    table + "')");
}

/// The columns of an index, and whether each is sorted downwards.
std::vector<std::string> index_columns(const plain_connection& file, const std::string& index)
{
    return file.sql("SELECT name, \"desc\" FROM pragma_index_xinfo('" + index + "') WHERE key");
}

std::vector<std::string> live_indexes(const plain_connection& file)
{
    return file.sql("SELECT name FROM sqlite_schema WHERE type = 'index'"
                    " AND tbl_name = '_honker_live' ORDER BY name");
}

class QueueSchema : public testing::Test {
protected:
    skein::support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    plain_connection file_{path_};
};

TEST_F(QueueSchema, IsExactlyTheFormatAndWhatIsNamedAsOurs)
{
    create(file_);
    EXPECT_THAT(file_.sql("SELECT type, name FROM sqlite_schema"
                          " WHERE name NOT LIKE '\\_skein\\_%' ESCAPE '\\'"
                          " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"),
                ElementsAre("table|_honker_dead", "table|_honker_live", "index|_honker_live_expiry",
                            "index|_honker_live_processing_deadline", "index|_honker_live_ready",
                            "index|_honker_live_scheduled", "table|_honker_results"));
}

TEST_F(QueueSchema, HasTheColumnsOfTheFormatInTheirOrder)
{
    create(file_);
    EXPECT_THAT(columns(file_, "_honker_live"),
                ElementsAre("id|INTEGER|0|NULL|1", "queue|TEXT|1|NULL|0", "payload|TEXT|1|NULL|0",
                            "state|TEXT|1|'pending'|0", "priority|INTEGER|1|0|0",
                            "run_at|INTEGER|1|unixepoch()|0", "worker_id|TEXT|0|NULL|0",
                            "claim_expires_at|INTEGER|0|NULL|0", "attempts|INTEGER|1|0|0",
                            "max_attempts|INTEGER|1|3|0", "created_at|INTEGER|1|unixepoch()|0",
                            "expires_at|INTEGER|0|NULL|0", "claimed_at|INTEGER|0|NULL|0"));
    EXPECT_THAT(columns(file_, "_honker_dead"),
                ElementsAre("id|INTEGER|0|NULL|1", "queue|TEXT|1|NULL|0", "payload|TEXT|1|NULL|0",
                            "priority|INTEGER|1|0|0", "run_at|INTEGER|1|0|0",
                            "attempts|INTEGER|1|0|0", "max_attempts|INTEGER|1|0|0",
                            "last_error|TEXT|0|NULL|0", "created_at|INTEGER|1|unixepoch()|0",
                            "died_at|INTEGER|1|unixepoch()|0"));
    EXPECT_THAT(columns(file_, "_honker_results"),
                ElementsAre("job_id|INTEGER|0|NULL|1", "value|TEXT|0|NULL|0",
                            "created_at|INTEGER|1|unixepoch()|0", "expires_at|INTEGER|0|NULL|0"));
}

TEST_F(QueueSchema, HasTheIndexesOfTheFormat)
{
    create(file_);
    EXPECT_THAT(index_columns(file_, "_honker_live_ready"),
                ElementsAre("queue|0", "priority|1", "run_at|0", "id|0"));
    EXPECT_THAT(index_columns(file_, "_honker_live_scheduled"), ElementsAre("queue|0", "run_at|0"));
    EXPECT_THAT(index_columns(file_, "_honker_live_processing_deadline"),
                ElementsAre("queue|0", "claim_expires_at|0"));
    EXPECT_THAT(index_columns(file_, "_honker_live_expiry"),
                ElementsAre("queue|0", "expires_at|0"));
    EXPECT_THAT(file_.sql("SELECT name FROM pragma_index_list('_honker_live')"
                          " WHERE NOT partial"),
                IsEmpty());
}

TEST_F(QueueSchema, NeverUsesANumberAgain)
{
    create(file_);
    file_.sql("INSERT INTO _honker_live (queue, payload) VALUES ('q', '1');"
              "DELETE FROM _honker_live;"
              "INSERT INTO _honker_live (queue, payload) VALUES ('q', '2')");
    EXPECT_EQ(file_.value("SELECT id FROM _honker_live"), "2");
}

TEST_F(QueueSchema, LeavesTheApplicationsVersionNumbersAlone)
{
    file_.sql("PRAGMA user_version = 42; PRAGMA application_id = 7");
    create(file_);
    EXPECT_EQ(file_.value("PRAGMA user_version"), "42");
    EXPECT_EQ(file_.value("PRAGMA application_id"), "7");
}

TEST_F(QueueSchema, IsNotWrittenAgainWhenAllIsThere)
{
    create(file_);
    const std::string before = file_.value("PRAGMA schema_version");
    create(file_);
    EXPECT_EQ(file_.value("PRAGMA schema_version"), before);
    EXPECT_EQ(shape(file_), queue_shape::complete);
}

TEST_F(QueueSchema, IsRefusedWhereANewerSkeinHasExtendedIt)
{
    create(file_);
    file_.sql("UPDATE _skein_meta SET version = version + 1 WHERE name = 'queue'");
    EXPECT_THROW(static_cast<void>(shape(file_)), schema_too_new);
    EXPECT_THROW(create_queue(skein::sqlite::connection(file_.handle()), now), schema_too_new);
}

TEST_F(QueueSchema, OfAnotherProgramIsUsedAsItIsAndCompletedOnlyWhenAsked)
{
    create_queue_format(file_, queue_format::newest);
    EXPECT_EQ(shape(file_), queue_shape::plain);
    create(file_);
    EXPECT_EQ(shape(file_), queue_shape::complete);
}

TEST_F(QueueSchema, IsMissingInAnEmptyFile)
{
    EXPECT_EQ(shape(file_), queue_shape::missing);
}

class QueueMigration : public testing::TestWithParam<queue_format> {
protected:
    void insert(const std::string& values)
    {
        file_.sql("INSERT INTO _honker_live (id, queue, payload, state, run_at, worker_id,"
                  " claim_expires_at, attempts, max_attempts, created_at) VALUES (" +
                  values + ")");
    }

    skein::support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    plain_connection file_{path_};

    void SetUp() override { create_queue_format(file_, GetParam()); }
};

TEST_P(QueueMigration, EndsInTheNewestShape)
{
    create(file_);
    EXPECT_EQ(shape(file_), queue_shape::complete);
    EXPECT_THAT(live_indexes(file_),
                ElementsAre("_honker_live_expiry", "_honker_live_processing_deadline",
                            "_honker_live_ready", "_honker_live_scheduled"));
    EXPECT_EQ(columns(file_, "_honker_live").back(), "claimed_at|INTEGER|0|NULL|0");
}

TEST_P(QueueMigration, IsDoneByItsStatementsAlone)
{
    const auto tables = find_queue(skein::sqlite::connection(file_.handle()));
    for (const std::string& each : completing_queue_statements(tables, "unixepoch()")) {
        file_.sql(each);
    }
    EXPECT_EQ(shape(file_), queue_shape::complete);
}

TEST_P(QueueMigration, KeepsJobsAndLeases)
{
    insert("1, 'q', '{}', 'pending', 900, NULL, NULL, 1, 3, 800");
    insert("2, 'q', '{}', 'processing', 900, 'w', 1100, 1, 3, 800");
    insert("3, 'q', '{}', 'processing', 900, 'w', 100, 3, 3, 800");
    const std::string query = "SELECT id, queue, payload, state, run_at, worker_id,"
                              " claim_expires_at, attempts, max_attempts, created_at"
                              " FROM _honker_live ORDER BY id";
    const auto before = file_.sql(query);
    create(file_);
    EXPECT_EQ(file_.sql(query), before);
    EXPECT_THAT(file_.sql("SELECT claimed_at FROM _honker_live"),
                ElementsAre("NULL", "NULL", "NULL"));
    EXPECT_THAT(file_.sql("SELECT id FROM _honker_dead"), IsEmpty());
}

TEST_P(QueueMigration, IsDoneOnceByManyWhoOpenTheFileTogether)
{
    insert("1, 'q', '{}', 'pending', 2000, NULL, NULL, 0, 3, 800");
    insert("2, 'q', '{}', 'pending', 900, NULL, NULL, 3, 3, 800");
    file_.sql("CREATE TABLE moved (id); CREATE TRIGGER log AFTER UPDATE ON _honker_live"
              " BEGIN INSERT INTO moved VALUES (NEW.id); END");
    std::vector<std::thread> openers;
    for (int each = 0; each < 8; ++each) {
        openers.emplace_back([this] {
            const plain_connection file(path_);
            create(file);
        });
    }
    for (std::thread& each : openers) {
        each.join();
    }
    EXPECT_EQ(shape(file_), queue_shape::complete);
    const bool is_migrated = GetParam() != queue_format::newest;
    EXPECT_EQ(file_.sql("SELECT id FROM moved").size(), is_migrated ? 1U : 0U);
    EXPECT_EQ(file_.sql("SELECT id FROM _honker_dead").size(), is_migrated ? 1U : 0U);
}

TEST_P(QueueMigration, ChangesNothingWhenItsTransactionIsRolledBack)
{
    insert("1, 'q', '{}', 'pending', 2000, NULL, NULL, 0, 3, 800");
    const auto before = file_.sql("SELECT type, name, sql FROM sqlite_schema");
    file_.sql("BEGIN IMMEDIATE");
    create_queue(skein::sqlite::connection(file_.handle()), now);
    file_.sql("ROLLBACK");
    EXPECT_EQ(file_.sql("SELECT type, name, sql FROM sqlite_schema"), before);
    EXPECT_EQ(file_.value("SELECT state FROM _honker_live"), "pending");
}

std::string name_of(const testing::TestParamInfo<queue_format>& format)
{
    switch (format.param) {
    case queue_format::without_claimed_at:
        return "WithoutClaimedAt";
    case queue_format::without_scheduled:
        return "WithoutScheduled";
    default:
        return "Newest";
    }
}

INSTANTIATE_TEST_SUITE_P(FromEveryShape, QueueMigration,
                         testing::Values(queue_format::without_claimed_at,
                                         queue_format::without_scheduled, queue_format::newest),
                         name_of);

class ScheduledStateMigration : public QueueMigration {};

TEST_P(ScheduledStateMigration, TakesJobsOfLaterOutOfTheReadyOnes)
{
    insert("1, 'q', '{}', 'pending', 1000, NULL, NULL, 0, 3, 800");
    insert("2, 'q', '{}', 'pending', 1001, NULL, NULL, 0, 3, 800");
    create(file_);
    EXPECT_THAT(file_.sql("SELECT id, state, run_at FROM _honker_live ORDER BY id"),
                ElementsAre("1|pending|1000", "2|scheduled|1001"));
}

TEST_P(ScheduledStateMigration, MakesDeadLettersOfJobsThatNoClaimWouldTake)
{
    insert("1, 'q', '[1]', 'pending', 900, NULL, NULL, 3, 3, 800");
    insert("2, 'q', '[2]', 'pending', 2000, NULL, NULL, 0, 0, 801");
    insert("3, 'q', '[3]', 'processing', 900, 'w', 100, 3, 3, 802");
    create(file_);
    EXPECT_THAT(file_.sql("SELECT id, queue, payload, run_at, attempts, max_attempts, last_error,"
                          " created_at, died_at FROM _honker_dead ORDER BY id"),
                ElementsAre("1|q|[1]|900|3|3|max attempts exceeded|800|1000",
                            "2|q|[2]|2000|0|0|max attempts exceeded|801|1000"));
    EXPECT_THAT(file_.sql("SELECT id FROM _honker_live"), ElementsAre("3"));
}

TEST_P(ScheduledStateMigration, IsDoneAgainAfterAnOlderProgramHasMadeItsIndexesAgain)
{
    create(file_);
    create_queue_format(file_, GetParam());
    EXPECT_EQ(shape(file_), queue_shape::missing);
    insert("1, 'q', '{}', 'pending', 2000, NULL, NULL, 0, 3, 800");
    create(file_);
    EXPECT_EQ(shape(file_), queue_shape::complete);
    EXPECT_EQ(file_.value("SELECT state FROM _honker_live"), "scheduled");
}

INSTANTIATE_TEST_SUITE_P(FromEveryOlderShape, ScheduledStateMigration,
                         testing::Values(queue_format::without_claimed_at,
                                         queue_format::without_scheduled),
                         name_of);

} // namespace
