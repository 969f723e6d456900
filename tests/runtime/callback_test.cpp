#include "runtime/running_queue.hpp"

#include <skein/transaction.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

namespace {

using skein::transaction;
using skein::support::operation;
using testing::ElementsAre;
using testing::IsEmpty;

/// What a callback of the user's may leave behind, with an operation before and one after it.
class Callback : public skein::support::running_queue {
protected:
    operation<void> run_between_neighbours(const std::function<void(transaction&)>& work)
    {
        const auto before = start_publish("before");
        auto between = start_transaction(work);
        const auto after = start_publish("after");
        db_.settle();
        EXPECT_TRUE(before.is_done() && !before.has_failed());
        EXPECT_TRUE(after.is_done() && !after.has_failed());
        EXPECT_TRUE(between.is_done());
        EXPECT_THAT(payloads(), ElementsAre("before", "after"));
        EXPECT_NO_THROW(publish("later"));
        return between;
    }
};

class EndOfTransaction : public Callback, public testing::WithParamInterface<const char*> {};

TEST_P(EndOfTransaction, IsRefused)
{
    auto callback = run_between_neighbours([](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1)");
        EXPECT_THROW(tx.database().exec(GetParam()), SQLite::Exception);
        tx.database().exec("INSERT INTO t VALUES (2)");
    });
    EXPECT_NO_THROW(callback.result());
    EXPECT_THAT(other_.sql("SELECT v FROM t"), ElementsAre("1", "2"));
}

INSTANTIATE_TEST_SUITE_P(Callback, EndOfTransaction,
                         testing::Values("COMMIT", "END TRANSACTION", "ROLLBACK", "BEGIN",
                                         "SAVEPOINT skein_unit", "SAVEPOINT \"SKEIN_UNIT\"",
                                         "RELEASE skein_unit", "ROLLBACK TO skein_unit",
                                         "PRAGMA query_only = ON"));

TEST_F(Callback, MayLeaveItsOwnSavepointOpen)
{
    auto callback = run_between_neighbours([](transaction& tx) {
        tx.database().exec("SAVEPOINT mine");
        tx.database().exec("INSERT INTO t VALUES (1)");
    });
    EXPECT_NO_THROW(callback.result());
    EXPECT_THAT(other_.sql("SELECT v FROM t"), ElementsAre("1"));
}

TEST_F(Callback, MayUseSavepoints)
{
    auto callback = run_between_neighbours([](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1)");
        tx.database().exec("SAVEPOINT mine; INSERT INTO t VALUES (2); ROLLBACK TO mine;"
                           " RELEASE mine; INSERT INTO t VALUES (3)");
    });
    EXPECT_NO_THROW(callback.result());
    EXPECT_THAT(other_.sql("SELECT v FROM t"), ElementsAre("1", "3"));
}

TEST_F(Callback, ThatThrowsWithItsOwnSavepointOpenIsUndone)
{
    auto callback = run_between_neighbours([](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1); SAVEPOINT mine; INSERT INTO t VALUES (2)");
        throw std::runtime_error("no");
    });
    EXPECT_THROW(callback.result(), std::runtime_error);
    EXPECT_THAT(other_.sql("SELECT v FROM t"), IsEmpty());
}

TEST_F(Callback, MaySwallowAnErrorOfItsOwn)
{
    auto callback = run_between_neighbours([](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1)");
        EXPECT_THROW(tx.database().exec("INSERT INTO t VALUES (1)"), SQLite::Exception);
        EXPECT_THROW(tx.database().exec("nonsense"), SQLite::Exception);
        tx.database().exec("INSERT INTO t VALUES (2)");
    });
    EXPECT_NO_THROW(callback.result());
    EXPECT_THAT(other_.sql("SELECT v FROM t"), ElementsAre("1", "2"));
}

TEST_F(Callback, MayLeaveAStatementUnfinished)
{
    other_.sql("INSERT INTO t VALUES (1), (2), (3)");
    std::optional<SQLite::Statement> kept;
    auto callback = run_between_neighbours([&](transaction& tx) {
        kept.emplace(tx.database(), "SELECT v FROM t");
        EXPECT_TRUE(kept->executeStep());
    });
    EXPECT_NO_THROW(callback.result());
}

TEST_F(Callback, MayLeaveAWritingStatementUnfinished)
{
    std::optional<SQLite::Statement> kept;
    auto callback = run_between_neighbours([&](transaction& tx) {
        kept.emplace(tx.database(), "INSERT INTO t VALUES (1), (2) RETURNING v");
        EXPECT_TRUE(kept->executeStep());
    });
    EXPECT_NO_THROW(callback.result());
    EXPECT_THAT(other_.sql("SELECT v FROM t"), ElementsAre("1", "2"));
}

TEST_F(Callback, ThatThrowsMayLeaveAStatementUnfinished)
{
    other_.sql("INSERT INTO t VALUES (1), (2), (3)");
    std::optional<SQLite::Statement> kept;
    auto callback = run_between_neighbours([&](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (4)");
        kept.emplace(tx.database(), "SELECT v FROM t");
        EXPECT_TRUE(kept->executeStep());
        throw std::runtime_error("no");
    });
    EXPECT_THROW(callback.result(), std::runtime_error);
    EXPECT_THAT(other_.sql("SELECT v FROM t"), ElementsAre("1", "2", "3"));
}

TEST_F(Callback, HasTheWholeOfSQLiteForItsOwnTables)
{
    auto callback = run_between_neighbours([](transaction& tx) {
        tx.database().exec("CREATE TABLE mine (id INTEGER PRIMARY KEY, v TEXT);"
                           "CREATE INDEX mine_by_v ON mine (v);"
                           "INSERT INTO mine (v) SELECT value FROM json_each('[\"a\",\"b\"]');"
                           "ALTER TABLE mine ADD COLUMN w; PRAGMA user_version = 7");
    });
    EXPECT_NO_THROW(callback.result());
    EXPECT_THAT(other_.sql("SELECT v FROM mine"), ElementsAre("a", "b"));
    EXPECT_EQ(other_.value("PRAGMA user_version"), "7");
}

} // namespace
