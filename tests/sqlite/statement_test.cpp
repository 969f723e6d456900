#include "sqlite/statement.hpp"

#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace {

using namespace std::string_literals;
using skein::sqlite::connection;
using skein::sqlite::execution;
using skein::sqlite::statement;

class Statement : public testing::Test {
protected:
    skein::support::temporary_directory directory_;
    skein::support::plain_connection file_{directory_ / "test.db"};
    connection connection_{file_.handle()};

    template <class Value>
    std::string type_of(const Value& value)
    {
        statement query(connection_, "SELECT typeof(?1)");
        execution once = query.start(value);
        once.step();
        return std::string(once.text(0));
    }

    template <class Function>
    int code_of(Function&& function)
    {
        try {
            function();
        } catch (const skein::sqlite::error& refused) {
            return refused.extended_code();
        }
        return SQLITE_OK;
    }
};

TEST_F(Statement, BindsEveryTypeAsSqliteKnowsIt)
{
    EXPECT_EQ(type_of(std::int64_t{1}), "integer");
    EXPECT_EQ(type_of(1), "integer");
    EXPECT_EQ(type_of(1.5), "real");
    EXPECT_EQ(type_of("a"s), "text");
    EXPECT_EQ(type_of(std::string_view("a")), "text");
    EXPECT_EQ(type_of(std::nullopt), "null");
    EXPECT_EQ(type_of(std::optional<double>{2}), "real");
    EXPECT_EQ(type_of(std::optional<double>{}), "null");
    EXPECT_EQ(type_of(std::optional<std::string_view>{}), "null");
}

TEST_F(Statement, KeepsTheLargestAndSmallestNumbers)
{
    statement query(connection_, "SELECT ?1, ?2, ?3");
    execution once = query.start(std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<double>::infinity());
    ASSERT_TRUE(once.step());
    EXPECT_EQ(once.integer(0), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(once.integer(1), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(once.real(2), std::numeric_limits<double>::infinity());
}

TEST_F(Statement, BindsAnEmptyTextAsATextAndNotAsNull)
{
    EXPECT_EQ(type_of(std::string_view()), "text");
    EXPECT_EQ(type_of(""s), "text");
    EXPECT_EQ(type_of(std::optional<std::string_view>(std::string_view())), "text");
}

TEST_F(Statement, KeepsTheNulsInsideAText)
{
    file_.sql("CREATE TABLE t (v TEXT)");
    const std::string text("a\0b\0", 4);
    statement write(connection_, "INSERT INTO t VALUES (?1)");
    write.run(text);

    EXPECT_EQ(file_.value("SELECT hex(v) FROM t"), "61006200");
    statement read(connection_, "SELECT v FROM t");
    execution once = read.start();
    ASSERT_TRUE(once.step());
    EXPECT_EQ(once.text(0), text);
}

TEST_F(Statement, ReadsTheBytesOfABlob)
{
    statement read(connection_, "SELECT x'00ff61', x''");
    execution once = read.start();
    ASSERT_TRUE(once.step());
    EXPECT_EQ(once.text(0), std::string_view("\0\xff"
                                             "a",
                                             3));
    EXPECT_EQ(once.text(1), "");
}

TEST_F(Statement, ReadsNullAsAnEmptyText)
{
    statement read(connection_, "SELECT NULL");
    execution once = read.start();
    ASSERT_TRUE(once.step());
    EXPECT_TRUE(once.is_null(0));
    EXPECT_EQ(once.text(0), "");
    EXPECT_EQ(once.integer(0), 0);
}

TEST_F(Statement, ReadsUtf8FromADatabaseThatStoresUtf16)
{
    file_.sql("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (v TEXT, b BLOB)");
    const std::string text = "gr\xc3\xbc\xc3\x9f \xf0\x9f\xaa\xbf"s;
    statement write(connection_, "INSERT INTO t VALUES (?1, x'61ff')");
    write.run(text);

    ASSERT_EQ(file_.value("SELECT length(v) FROM t"), "6");
    statement read(connection_, "SELECT v, b FROM t");
    execution once = read.start();
    ASSERT_TRUE(once.step());
    EXPECT_EQ(once.text(0), text);
    EXPECT_EQ(once.text(1), "a\xff");
}

TEST_F(Statement, CanBeRunAgainWithOtherValues)
{
    const std::string text = "one";
    statement query(connection_, "SELECT ?1, ?2");
    {
        execution first = query.start(1, text);
        ASSERT_TRUE(first.step());
        EXPECT_EQ(first.text(1), "one");
    }
    execution second = query.start(2);
    ASSERT_TRUE(second.step());
    EXPECT_EQ(second.integer(0), 2);
    EXPECT_TRUE(second.is_null(1)) << "a value of the execution before was still bound";
}

TEST_F(Statement, IsResetAtTheEndOfTheScope)
{
    file_.sql("CREATE TABLE t (v); INSERT INTO t VALUES (1), (2)");
    statement read(connection_, "SELECT v FROM t");
    {
        execution once = read.start();
        ASSERT_TRUE(once.step());
        ASSERT_NE(sqlite3_stmt_busy(sqlite3_next_stmt(file_.handle(), nullptr)), 0);
    }
    EXPECT_EQ(sqlite3_stmt_busy(sqlite3_next_stmt(file_.handle(), nullptr)), 0);
}

TEST_F(Statement, IsResetAlsoWhenItFailed)
{
    file_.sql("CREATE TABLE t (v PRIMARY KEY); INSERT INTO t VALUES (1)");
    statement write(connection_, "INSERT INTO t VALUES (?1)");
    EXPECT_THROW(write.run(1), skein::sqlite::error);
    EXPECT_EQ(sqlite3_stmt_busy(sqlite3_next_stmt(file_.handle(), nullptr)), 0);
    EXPECT_EQ(write.run(2), 1);
}

TEST_F(Statement, TellsHowManyRowsItChanged)
{
    file_.sql("CREATE TABLE t (v); INSERT INTO t VALUES (1), (2), (3)");
    statement change(connection_, "UPDATE t SET v = v + 10 WHERE v >= ?1");
    EXPECT_EQ(change.run(2), 2);
    EXPECT_EQ(change.run(100), 0);
}

TEST_F(Statement, DoesNotCountTheRowsThatATriggerChanged)
{
    file_.sql("CREATE TABLE t (v); CREATE TABLE log (v);"
              "CREATE TRIGGER noted AFTER INSERT ON t BEGIN"
              " INSERT INTO log VALUES (1), (2), (3); END");
    statement write(connection_, "INSERT INTO t VALUES (?1)");
    EXPECT_EQ(write.run(1), 1);
}

TEST_F(Statement, RunsAllRowsOfAReturningClause)
{
    file_.sql("CREATE TABLE t (v)");
    statement write(connection_, "INSERT INTO t VALUES (1), (2), (3) RETURNING v");
    EXPECT_EQ(write.run(), 3);
    EXPECT_FALSE(connection_.in_transaction());
    EXPECT_EQ(file_.value("SELECT count(*) FROM t"), "3");
}

TEST_F(Statement, FailsWithTheExtendedCode)
{
    file_.sql("CREATE TABLE t (k PRIMARY KEY, n NOT NULL); INSERT INTO t VALUES (1, 1)");
    statement write(connection_, "INSERT INTO t VALUES (?1, ?2)");
    EXPECT_EQ(code_of([&] { write.run(1, 1); }), SQLITE_CONSTRAINT_PRIMARYKEY);
    EXPECT_EQ(code_of([&] { write.run(2, std::nullopt); }), SQLITE_CONSTRAINT_NOTNULL);
}

TEST_F(Statement, FailsWithTheExtendedCodeOfAStaleSnapshot)
{
    file_.sql("PRAGMA journal_mode = wal; CREATE TABLE t (v); INSERT INTO t VALUES (1)");
    const skein::support::plain_connection other(directory_ / "test.db");
    statement write(connection_, "UPDATE t SET v = 3");
    file_.sql("BEGIN; SELECT * FROM t");
    other.sql("UPDATE t SET v = 2");

    try {
        write.run();
        FAIL() << "a write on a stale snapshot went through";
    } catch (const skein::sqlite::error& refused) {
        EXPECT_EQ(refused.extended_code(), SQLITE_BUSY_SNAPSHOT);
        EXPECT_EQ(refused.primary_code(), SQLITE_BUSY);
        EXPECT_TRUE(refused.is_busy());
    }
}

TEST_F(Statement, TellsSyntaxErrorsAtTheFirstUse)
{
    statement broken(connection_, "SELEKT 1");
    EXPECT_EQ(code_of([&] { broken.run(); }), SQLITE_ERROR);
}

TEST_F(Statement, CanBeUsedOnceItsTableIsThere)
{
    statement read(connection_, "SELECT count(*) FROM late");
    EXPECT_THROW(read.run(), skein::sqlite::error);
    file_.sql("CREATE TABLE late (v)");
    EXPECT_NO_THROW(read.run());
}

TEST_F(Statement, RefusesATextThatIsLongerThanTheLimit)
{
    sqlite3_limit(file_.handle(), SQLITE_LIMIT_LENGTH, 1000);
    EXPECT_EQ(connection_.length_limit(), 1000U);
    statement query(connection_, "SELECT ?1");
    EXPECT_EQ(code_of([&] { query.run(std::string(1001, 'x')); }), SQLITE_TOOBIG);
    EXPECT_EQ(code_of([&] { query.run(std::string(1000, 'x')); }), SQLITE_OK);
}

TEST_F(Statement, RefusesAParameterThatItDoesNotHave)
{
    statement query(connection_, "SELECT ?1");
    EXPECT_EQ(code_of([&] { query.run(1, 2); }), SQLITE_RANGE);
}

TEST_F(Statement, CountsItsSteps)
{
    statement query(connection_, "SELECT ?1");
    EXPECT_EQ(query.steps(), 0);
    query.run(1);
    const int once = query.steps();
    EXPECT_GT(once, 0);
    query.run(1);
    EXPECT_EQ(query.steps(), 2 * once);
}

} // namespace
