// A connection that has loaded the extension is closed like any other: nothing of the extension's
// keeps it open, so that the last one to close a file in WAL mode clears the log away.

#include "extension/host_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

namespace {

using skein::support::host_connection;
using skein::support::temporary_directory;

/// All that keeps prepared statements.
const std::string use_everything =
    "SELECT honker_bootstrap(), honker_enqueue('q', '1', NULL, NULL, 0, 3, NULL);"
    "SELECT honker_claim_batch('q', 'w', 1, 60);"
    "SELECT honker_get_job(1), honker_queue_next_claim_at('q'), honker_heartbeat(1, 'w', 9);"
    "SELECT honker_retry(1, 'w', 0, 'e'), honker_fail(1, 'w', 'e'), honker_ack(1, 'w');"
    "SELECT honker_ack_batch('[1]', 'w'), honker_cancel(1), honker_sweep_expired('q');"
    "SELECT honker_result_save(1, '1', 9), honker_result_get(1), honker_result_sweep();"
    "SELECT notify('c', '1'), honker_stream_publish('t', 'k', '1');"
    "SELECT honker_stream_read_since('t', 0, 9), honker_stream_save_offset('c', 't', 1);"
    "SELECT honker_stream_get_offset('c', 't'), honker_lock_acquire('l', 'o', 9);"
    "SELECT honker_lock_renew('l', 'o', 9), honker_lock_release('l', 'o');"
    "SELECT honker_rate_limit_try('r', 1, 9), honker_rate_limit_sweep(0);"
    "SELECT honker_scheduler_register('s', 'q', '@every 1s', '1', 0, NULL);"
    "SELECT honker_scheduler_tick(unixepoch() + 1), honker_scheduler_list();"
    "SELECT honker_scheduler_soonest(), honker_scheduler_pause('s');";

class Closing : public ::testing::Test {
protected:
    Closing()
    {
        host_.sql("PRAGMA journal_mode = wal");
        EXPECT_EQ(host_.load(), "");
        EXPECT_EQ(host_.value(use_everything).find("error"), std::string::npos);
        EXPECT_TRUE(has_log());
    }

    bool has_log() const { return std::filesystem::exists(directory_ / "app.db-wal"); }

    /// A statement of the program's that has not come to its end.
    sqlite3_stmt* begin(const char* statement)
    {
        sqlite3_stmt* begun = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(host_.handle(), statement, -1, &begun, nullptr), SQLITE_OK);
        EXPECT_EQ(sqlite3_step(begun), SQLITE_ROW);
        return begun;
    }

    temporary_directory directory_;
    host_connection host_{directory_ / "app.db"};
};

TEST_F(Closing, LeavesNothingBehind)
{
    EXPECT_EQ(host_.close(), SQLITE_OK);
    EXPECT_FALSE(has_log());
}

TEST_F(Closing, LeavesNothingBehindAfterErrors)
{
    for (const char* refused :
         {"SELECT honker_ack('1', 'w')", "SELECT honker_enqueue('q', '{', NULL, NULL, 0, 3, NULL)",
          "CREATE TABLE t (c); INSERT INTO t SELECT honker_claim_batch('q', 'w', 1, 9)",
          "DROP TABLE _honker_locks; SELECT honker_lock_acquire('l', 'o', 9)",
          "SELECT honker_scheduler_register('s', 'q', 'never', '1', 0, NULL)"}) {
        EXPECT_TRUE(host_.value(refused).starts_with("error: ")) << refused;
    }
    EXPECT_EQ(host_.close(), SQLITE_OK);
    EXPECT_FALSE(has_log());
}

TEST_F(Closing, LeavesNothingBehindWhenATransactionIsOpen)
{
    host_.sql("BEGIN; SELECT notify('c', '2')");
    EXPECT_EQ(host_.close(), SQLITE_OK);
    EXPECT_FALSE(has_log());

    host_connection again(directory_ / "app.db");
    EXPECT_EQ(again.value("SELECT count(*) FROM _honker_notifications"), "1");
}

TEST_F(Closing, LeavesNothingBehindWhenLoadedMoreThanOnce)
{
    EXPECT_EQ(host_.load(), "");
    host_.sql(use_everything);
    EXPECT_EQ(host_.load(SKEIN_EXTENSION_OTHER_NAME), "");
    host_.sql(use_everything);
    EXPECT_EQ(host_.close(), SQLITE_OK);
    EXPECT_FALSE(has_log());
}

TEST_F(Closing, IsPossibleLaterWhenRefusedForAStatementOfTheProgram)
{
    sqlite3_stmt* const begun = begin("SELECT value FROM json_each('[1,2]')");
    EXPECT_EQ(host_.close(), SQLITE_BUSY);

    EXPECT_EQ(host_.value("SELECT notify('c', '2')"), "2");
    EXPECT_TRUE(host_.value("SELECT notify('c', '{')").starts_with("error: "));
    EXPECT_EQ(host_.value(use_everything).find("error"), std::string::npos);
    sqlite3_finalize(begun);
    EXPECT_EQ(host_.close(), SQLITE_OK);
    EXPECT_FALSE(has_log());
}

// SQLite lets nobody prepare a statement on a connection that is closed, though one of its own
// still runs.
TEST_F(Closing, LeavesAStatementThatStillCallsTheExtensionWithAnError)
{
    sqlite3_stmt* const begun =
        begin("SELECT notify('c', json(value)) FROM json_each('[10,20,30]')");
    host_.close_later();
    EXPECT_EQ(sqlite3_step(begun), SQLITE_ERROR);
    EXPECT_TRUE(has_log());
    sqlite3_finalize(begun);
    EXPECT_FALSE(has_log());

    host_connection again(directory_ / "app.db");
    EXPECT_EQ(again.value("SELECT count(*) FROM _honker_notifications"), "2");
}

TEST_F(Closing, OfOneConnectionLeavesTheOthersAsTheyAre)
{
    host_connection other(directory_ / "app.db");
    EXPECT_EQ(other.load(), "");
    EXPECT_EQ(other.value("SELECT notify('c', '2')"), "2");
    EXPECT_EQ(host_.close(), SQLITE_OK);
    EXPECT_EQ(other.value("SELECT notify('c', '3')"), "3");
    EXPECT_EQ(other.close(), SQLITE_OK);
    EXPECT_FALSE(has_log());
}

} // namespace
