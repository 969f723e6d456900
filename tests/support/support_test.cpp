#include "support/manual_database.hpp"
#include "support/other_process.hpp"
#include "support/plain_connection.hpp"
#include "support/run_coroutine.hpp"
#include "support/statement_counter.hpp"
#include "support/temporary_directory.hpp"

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>

namespace {

using namespace skein;
using namespace skein::support;
using namespace std::chrono_literals;
using ::testing::ElementsAre;

asio::awaitable<std::unique_ptr<int>> seven()
{
    co_return std::make_unique<int>(7);
}

asio::awaitable<void> fail()
{
    const auto executor = co_await asio::this_coro::executor;
    static_cast<void>(executor);
    throw std::system_error(std::make_error_code(std::errc::timed_out));
}

asio::awaitable<void> wait_for_ever()
{
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_at(asio::steady_timer::time_point::max());
    co_await timer.async_wait(asio::use_awaitable);
}

TEST(RunCoroutine, ReturnsWhatTheCoroutineReturns)
{
    asio::io_context context;
    EXPECT_EQ(*run_coroutine(context, seven()), 7);
    EXPECT_EQ(*run_coroutine(context, seven()), 7) << "a context can be run again";
}

TEST(RunCoroutine, ThrowsWhatTheCoroutineThrows)
{
    asio::io_context context;
    EXPECT_THROW(run_coroutine(context, fail()), std::system_error);
}

TEST(RunCoroutine, MovesTheClockWhenNothingElseCanHappen)
{
    manual_database database;
    const auto transport = database.database().transport();
    const auto claimed =
        run_coroutine(database.context(), database.clock(), transport.claim_within(10s));
    EXPECT_FALSE(claimed);
    EXPECT_GE(database.clock().wall_now(), clock::wall_time(110s));
}

TEST(Operation, TellsHowItEnded)
{
    asio::io_context context;
    operation<std::unique_ptr<int>> returns(context, seven());
    operation<void> throws(context, fail());
    EXPECT_FALSE(returns.is_done());
    EXPECT_THROW(returns.result(), std::logic_error);
    settle(context);
    EXPECT_TRUE(returns.is_done());
    EXPECT_FALSE(returns.error());
    EXPECT_EQ(*returns.result(), 7);
    EXPECT_TRUE(throws.has_failed());
    EXPECT_EQ(throws.error(), std::make_error_code(std::errc::timed_out));
    EXPECT_THROW(throws.result(), std::system_error);
}

TEST(Operation, IsCancelledByEveryTypeOfCancellation)
{
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        asio::io_context context;
        operation<void> waits(context, wait_for_ever());
        settle(context);
        EXPECT_FALSE(waits.is_done());
        waits.cancel(type);
        settle(context);
        EXPECT_EQ(waits.error(), asio::error::operation_aborted);
    }
}

TEST(Operation, MayBeCancelledAfterItsEnd)
{
    asio::io_context context;
    operation<std::unique_ptr<int>> returns(context, seven());
    settle(context);
    returns.cancel();
    settle(context);
    EXPECT_EQ(*returns.result(), 7);
}

TEST(ManualDatabase, StandsAtAHundredSecondsUntilItIsMoved)
{
    manual_database database;
    EXPECT_EQ(database.clock().wall_now(), clock::wall_time(100s));
    database.advance(1500ms);
    EXPECT_EQ(database.clock().wall_now(), clock::wall_time(101500ms));
    database.reopen();
    EXPECT_EQ(database.clock().wall_now(), clock::wall_time(101500ms));
}

TEST(TemporaryDirectory, IsRemovedWithWhatIsInIt)
{
    std::filesystem::path path;
    {
        const temporary_directory directory;
        path = directory.path();
        plain_connection(directory / "test.db")
            .sql("PRAGMA journal_mode = wal; CREATE TABLE t (v)");
        EXPECT_TRUE(std::filesystem::exists(directory / "test.db"));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

class StatementCounter : public ::testing::Test {
protected:
    StatementCounter()
    {
        file_.sql("CREATE TABLE t (v); CREATE TABLE log (v);"
                  "CREATE TRIGGER noted AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1); END");
    }

    temporary_directory directory_;
    plain_connection file_{directory_ / "test.db"};
};

TEST_F(StatementCounter, TellsStatementsWithoutWhatTriggersDo)
{
    statement_counter counter(file_.handle());
    file_.sql("INSERT INTO t VALUES (1)");
    file_.sql("SELECT * FROM t");
    EXPECT_THAT(counter.statements(), ElementsAre("INSERT INTO t VALUES (1)", "SELECT * FROM t"));
    EXPECT_EQ(counter.count(), 2U);
    EXPECT_EQ(counter.count("INSERT"), 1U);
    counter.reset();
    EXPECT_EQ(counter.count(), 0U);
}

TEST_F(StatementCounter, RunsAHookWhenAStatementHasFinished)
{
    const plain_connection other(directory_ / "test.db");
    std::string seen;
    {
        statement_counter counter(file_.handle());
        counter.when_finished("COMMIT",
                              [&] { seen += other.value("SELECT count(*) FROM t") + ";"; });
        file_.sql("BEGIN; INSERT INTO t VALUES (1)");
        EXPECT_EQ(seen, "");
        file_.sql("COMMIT");
        EXPECT_EQ(seen, "1;");
    }
    file_.sql("BEGIN; INSERT INTO t VALUES (1); COMMIT");
    EXPECT_EQ(seen, "1;") << "the counter has ended";
}

TEST(OtherProcess, RunsSqlOverThere)
{
    const temporary_directory directory;
    other_process other(directory / "test.db");
    EXPECT_THAT(other.sql("CREATE TABLE t (v); INSERT INTO t VALUES ('a'), (NULL);"
                          "SELECT rowid, v FROM t"),
                ElementsAre("1|a", "2|NULL"));
    EXPECT_EQ(plain_connection(directory / "test.db").value("SELECT count(*) FROM t"), "2");
}

TEST(OtherProcess, TellsWhatSqliteRefused)
{
    const temporary_directory directory;
    other_process other(directory / "test.db");
    try {
        other.sql("CREATE TABLE t (v PRIMARY KEY); INSERT INTO t VALUES (1), (1)");
        ADD_FAILURE() << "a key was stored twice";
    } catch (const other_process::refusal& refused) {
        EXPECT_EQ(refused.code, SQLITE_CONSTRAINT_PRIMARYKEY);
    }
}

TEST(OtherProcess, HoldsTheWriteLockUntilItIsToldOrKilled)
{
    const temporary_directory directory;
    const plain_connection file(directory / "test.db");
    file.sql("CREATE TABLE t (v)");
    sqlite3_busy_timeout(file.handle(), 0);
    {
        other_process other(file.sql("PRAGMA database_list").front().substr(7));
        other.lock();
        EXPECT_ANY_THROW(file.sql("INSERT INTO t VALUES (1)"));
        other.unlock();
        file.sql("INSERT INTO t VALUES (1)");
        other.lock();
        other.kill();
        EXPECT_ANY_THROW(other.sql("SELECT 1"));
    }
    file.sql("INSERT INTO t VALUES (1)");
}

TEST(OtherProcess, LetsGoOfTheLockByItself)
{
    const temporary_directory directory;
    const plain_connection file(directory / "test.db");
    other_process other(directory / "test.db");
    other.lock_for(1ms);
    file.sql("CREATE TABLE t (v)");
    EXPECT_THAT(other.sql("SELECT count(*) FROM t"), ElementsAre("0"));
}

} // namespace
