// In which states of the file, and in which programs, the extension can be loaded.

#include "extension/host_connection.hpp"
#include "store/older_queue_program.hpp"
#include "support/other_process.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using skein::store::queue_format;
using skein::support::host_connection;
using skein::support::other_process;
using skein::support::plain_connection;
using skein::support::temporary_directory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string load = "SELECT load_extension('" SKEIN_EXTENSION "')";

TEST(Loading, SucceedsOnAFileThatCanOnlyBeRead)
{
    const temporary_directory directory;
    plain_connection(directory / "app.db").sql("CREATE TABLE mine (column)");
    host_connection reader(directory / "app.db", SQLITE_OPEN_READONLY);
    EXPECT_EQ(reader.load(), "");
    EXPECT_EQ(reader.value("SELECT honker_cron_next_after('@every 5s', 10)"), "15");
    EXPECT_THAT(reader.value("SELECT notify('c', '1')"), HasSubstr("error: "));
    EXPECT_THAT(reader.value("SELECT honker_bootstrap()"),
                HasSubstr("attempt to write a readonly database"));
}

TEST(Loading, LetsTablesBeReadInAFileThatCanOnlyBeRead)
{
    const temporary_directory directory;
    host_connection writer(directory / "app.db");
    ASSERT_EQ(writer.load(), "");
    writer.sql("SELECT honker_bootstrap(); SELECT honker_stream_publish('t', 'k', '1')");

    host_connection reader(directory / "app.db", SQLITE_OPEN_READONLY);
    EXPECT_EQ(reader.load(), "");
    EXPECT_EQ(reader.value("SELECT honker_bootstrap()"), "1");
    EXPECT_EQ(reader.value("SELECT json_array_length(honker_stream_read_since('t', 0, 9))"), "1");
    for (const char* written :
         {"SELECT notify('c', '1')", "SELECT honker_enqueue('q', '1', NULL, NULL, 0, 3, NULL)",
          "SELECT honker_claim_batch('q', 'w', 1, 9)", "SELECT honker_lock_acquire('l', 'o', 9)",
          "SELECT honker_scheduler_tick(1)"}) {
        EXPECT_EQ(reader.value(written), "error: attempt to write a readonly database") << written;
        EXPECT_EQ(sqlite3_get_autocommit(reader.handle()), 1) << written;
    }
}

TEST(Loading, FailsWhereTablesAreMissingAndTheFileIsLocked)
{
    const temporary_directory directory;
    const plain_connection holder(directory / "app.db");
    holder.sql("CREATE TABLE mine (column); BEGIN IMMEDIATE");
    host_connection late(directory / "app.db");
    EXPECT_THAT(late.load(), HasSubstr("database is locked"));
    EXPECT_EQ(sqlite3_get_autocommit(late.handle()), 1);
    EXPECT_THAT(late.value("SELECT notify('c', '1')"), HasSubstr("no such function"));

    holder.sql("COMMIT");
    EXPECT_EQ(late.load(), "");
    EXPECT_EQ(late.value("SELECT notify('c', '1')"), "1");
    EXPECT_EQ(late.close(), SQLITE_OK);
}

TEST(Loading, NeedsNoLockWhereTheTablesAre)
{
    const temporary_directory directory;
    host_connection first(directory / "app.db");
    ASSERT_EQ(first.load(), "");
    first.sql("SELECT honker_bootstrap(); BEGIN IMMEDIATE");

    host_connection second(directory / "app.db");
    EXPECT_EQ(second.load(), "");
    EXPECT_EQ(second.value("SELECT honker_bootstrap()"), "1");
    EXPECT_EQ(second.value("SELECT notify('c', '1')"), "error: database is locked");
    EXPECT_EQ(sqlite3_errcode(second.handle()), SQLITE_BUSY);
    EXPECT_EQ(sqlite3_get_autocommit(second.handle()), 1);
}

TEST(Bootstrapping, IsPartOfATransactionButOfNoWriteStatement)
{
    const temporary_directory directory;
    host_connection host(directory / "app.db");
    ASSERT_EQ(host.load(), "");
    host.sql("CREATE TABLE mine (result)");
    EXPECT_THAT(host.value("INSERT INTO mine SELECT honker_bootstrap()"),
                HasSubstr("honker_bootstrap requires a separate SELECT after you finish all"));
    EXPECT_EQ(sqlite3_errcode(host.handle()), SQLITE_ERROR);
    EXPECT_EQ(sqlite3_get_autocommit(host.handle()), 1);
    EXPECT_EQ(host.value("SELECT count(*) FROM mine"), "0");

    EXPECT_EQ(host.value("BEGIN; SELECT honker_bootstrap()"), "1");
    host.sql("ROLLBACK");
    EXPECT_EQ(host.value("SELECT count(*) FROM sqlite_schema WHERE name = '_honker_live'"), "0");
    EXPECT_EQ(host.value("SELECT honker_bootstrap()"), "1");
    EXPECT_EQ(host.value("INSERT INTO mine SELECT honker_bootstrap() RETURNING result"), "1");
}

/// Whether the process has a file of that name in its memory.
bool has_mapped(pid_t process, const std::string& name)
{
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    const std::string all{std::istreambuf_iterator<char>(maps), {}};
    return all.find(name) != std::string::npos;
}

TEST(Loading, WorksInAProgramWithASQLiteOfItsOwn)
{
    const temporary_directory directory;
    other_process program(SKEIN_PRIVATE_SQLITE_PROCESS, directory / "app.db");
    program.sql(load);
    ASSERT_TRUE(has_mapped(program.process().id(), "/skein.so"));
    EXPECT_FALSE(has_mapped(program.process().id(), "libsqlite3"));
    EXPECT_THAT(program.sql("SELECT honker_bootstrap(),"
                            " honker_enqueue('q', '1', NULL, NULL, 0, 3, NULL)"),
                ElementsAre("1|1"));
    EXPECT_THAT(program.sql("SELECT json_extract(honker_claim_batch('q', 'w', 1, 60), '$[0].id')"),
                ElementsAre("1"));
    EXPECT_THAT(program.sql("SELECT honker_ack(1, 'w', 1)"), ElementsAre("1"));

    host_connection beside(directory / "app.db");
    ASSERT_EQ(beside.load(), "");
    beside.sql("SELECT honker_enqueue('q', '2', NULL, NULL, 0, 3, NULL)");
    EXPECT_THAT(program.sql("SELECT json_extract(honker_claim_batch('q', 'w', 1, 60), '$[0].id')"),
                ElementsAre("2"));
}

/// Eight programs that begin while somebody holds the write lock, and so all at once.
class LoadingAtOnce : public ::testing::Test {
protected:
    void begin_all()
    {
        std::deque<other_process> programs;
        for (int i = 0; i < 8; ++i) {
            programs.emplace_back(path_).sql("PRAGMA busy_timeout = 60000");
        }
        const plain_connection holder(path_);
        holder.sql("BEGIN IMMEDIATE");
        for (other_process& each : programs) {
            each.process().write_line(load);
            each.process().write_line("SELECT honker_bootstrap()");
        }
        holder.sql("COMMIT");
        for (other_process& each : programs) {
            EXPECT_EQ(each.process().read_line(), "row NULL");
            EXPECT_EQ(each.process().read_line(), "ok");
            EXPECT_EQ(each.process().read_line(), "row 1");
            EXPECT_EQ(each.process().read_line(), "ok");
        }
    }

    /// The same functions, whatever the file was.
    void expect_to_work()
    {
        host_connection host(path_);
        ASSERT_EQ(host.load(), "");
        EXPECT_EQ(host.value("SELECT json_array_length(honker_claim_batch('new', 'w', 9, 60))"
                             " FROM (SELECT honker_enqueue('new', '1', NULL, NULL, 0, 3, NULL))"),
                  "1");
        EXPECT_EQ(host.value("PRAGMA integrity_check"), "ok");
        EXPECT_EQ(host.value("SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE"
                             " type = 'index' AND tbl_name = '_honker_live' ORDER BY name)"),
                  "_honker_live_expiry,_honker_live_processing_deadline,_honker_live_ready,"
                  "_honker_live_scheduled");
    }

    void create_older(queue_format format)
    {
        const plain_connection file(path_);
        skein::store::create_queue_format(file, format);
        file.sql("INSERT INTO _honker_live (id, queue, payload, state, run_at, attempts) VALUES"
                 " (1, 'q', '1', 'pending', unixepoch() + 9999, 0),"
                 " (2, 'q', '2', 'pending', 0, 3), (3, 'q', '3', 'pending', 0, 0)");
    }

    void expect_migrated()
    {
        const plain_connection file(path_);
        EXPECT_THAT(file.sql("SELECT id, state, claimed_at FROM _honker_live WHERE queue = 'q'"
                             " ORDER BY id"),
                    ElementsAre("1|scheduled|NULL", "3|pending|NULL"));
        EXPECT_THAT(file.sql("SELECT id, last_error FROM _honker_dead"),
                    ElementsAre("2|max attempts exceeded"));
    }

    temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "app.db";
};

TEST_F(LoadingAtOnce, MakesTheTablesOfAFreshFile)
{
    begin_all();
    expect_to_work();
}

TEST_F(LoadingAtOnce, ExtendsTheOldestTables)
{
    create_older(queue_format::without_claimed_at);
    begin_all();
    expect_migrated();
    expect_to_work();
}

TEST_F(LoadingAtOnce, ExtendsTablesWithoutTheScheduledState)
{
    create_older(queue_format::without_scheduled);
    begin_all();
    expect_migrated();
    expect_to_work();
}

TEST_F(LoadingAtOnce, KeepsTheNewestTables)
{
    create_older(queue_format::newest);
    begin_all();
    EXPECT_THAT(plain_connection(path_).sql("SELECT id FROM _honker_live"),
                ElementsAre("1", "2", "3"));
    expect_to_work();
}

} // namespace
