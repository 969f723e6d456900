#include "sqlite/connection.hpp"

#include "sqlite/statement.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

namespace {

using skein::sqlite::connection;

class Connection : public testing::Test {
protected:
    skein::support::temporary_directory directory_;
    skein::support::plain_connection file_{directory_ / "test.db"};
    connection connection_{file_.handle()};
};

TEST_F(Connection, KnowsWhetherATransactionIsOpen)
{
    EXPECT_FALSE(connection_.in_transaction());
    connection_.execute("BEGIN IMMEDIATE");
    EXPECT_TRUE(connection_.in_transaction());
    connection_.execute("ROLLBACK");
    EXPECT_FALSE(connection_.in_transaction());
}

TEST_F(Connection, SeesThatSqliteEndedTheTransactionByItself)
{
    connection_.execute("CREATE TABLE t (v UNIQUE ON CONFLICT ROLLBACK);"
                        "INSERT INTO t VALUES (1); BEGIN IMMEDIATE");
    EXPECT_THROW(connection_.execute("INSERT INTO t VALUES (1)"), skein::sqlite::error);
    EXPECT_FALSE(connection_.in_transaction());
}

TEST_F(Connection, SeesDeferredForeignKeysThatACommitWouldRefuse)
{
    connection_.execute("PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);"
                        "CREATE TABLE child (id REFERENCES parent (id)"
                        " DEFERRABLE INITIALLY DEFERRED)");
    connection_.execute("BEGIN IMMEDIATE");
    EXPECT_FALSE(connection_.has_violated_foreign_keys());
    connection_.execute("INSERT INTO child VALUES (7)");
    EXPECT_TRUE(connection_.has_violated_foreign_keys());
    EXPECT_THROW(connection_.execute("COMMIT"), skein::sqlite::error);
    connection_.execute("INSERT INTO parent VALUES (7)");
    EXPECT_FALSE(connection_.has_violated_foreign_keys());
    connection_.execute("COMMIT");
}

TEST_F(Connection, ResetsEveryStatementThatWasLeftUnfinished)
{
    connection_.execute("CREATE TABLE t (v); INSERT INTO t VALUES (1), (2)");
    sqlite3_stmt* left = nullptr;
    sqlite3_stmt* other = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(file_.handle(), "SELECT v FROM t", -1, &left, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_prepare_v2(file_.handle(), "SELECT 1", -1, &other, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_step(left), SQLITE_ROW);
    ASSERT_EQ(sqlite3_step(other), SQLITE_ROW);

    connection_.reset_statements();

    EXPECT_EQ(sqlite3_stmt_busy(left), 0);
    EXPECT_EQ(sqlite3_stmt_busy(other), 0);
    EXPECT_EQ(sqlite3_txn_state(file_.handle(), nullptr), SQLITE_TXN_NONE);
    sqlite3_finalize(left);
    sqlite3_finalize(other);
}

TEST_F(Connection, FailsWithSqlitesCodeAndText)
{
    try {
        connection_.execute("SELECT * FROM nowhere");
        FAIL() << "a table that is not there was read";
    } catch (const skein::sqlite::error& refused) {
        EXPECT_EQ(refused.extended_code(), SQLITE_ERROR);
        EXPECT_STREQ(refused.what(), "no such table: nowhere");
        EXPECT_FALSE(refused.is_busy());
    }
}

TEST_F(Connection, KnowsTheLastRowAndTheChanges)
{
    connection_.execute("CREATE TABLE t (v)");
    connection_.execute("INSERT INTO t (rowid, v) VALUES (41, 1)");
    EXPECT_EQ(connection_.last_insert_rowid(), 41);
    connection_.execute("INSERT INTO t VALUES (1), (2)");
    EXPECT_EQ(connection_.last_insert_rowid(), 43);
    EXPECT_EQ(connection_.changes(), 2);
}

} // namespace
