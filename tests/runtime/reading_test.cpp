#include "runtime/running_queue.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

namespace {

class Reading : public skein::support::running_queue {
protected:
    template <class Function>
    auto read(const Function& look)
    {
        return db_.run(db_.database().read(look));
    }
};

std::string value(const SQLite::Database& file, const char* query)
{
    SQLite::Statement statement(file, query);
    return statement.executeStep() ? statement.getColumn(0).getString() : "nothing";
}

TEST_F(Reading, ReturnsWhatItsCallbackReturns)
{
    other_.sql("INSERT INTO t VALUES (7)");
    const auto look = [](const SQLite::Database& file) { return value(file, "SELECT v FROM t"); };
    EXPECT_EQ(read(look), "7");
}

TEST_F(Reading, ReturnsATypeThatHasNoDefault)
{
    struct answer {
        explicit answer(int value_) : value(value_) {}
        int value;
    };
    const auto look = [](const SQLite::Database&) { return answer(42); };
    const auto wrapped = [](auto awaited) -> asio::awaitable<int> {
        const answer found = co_await std::move(awaited);
        co_return found.value;
    };
    EXPECT_EQ(db_.run(wrapped(db_.database().read(look))), 42);
}

TEST_F(Reading, ThrowsWhatItsCallbackThrows)
{
    struct refusal {};
    const auto look = [](const SQLite::Database&) { throw refusal{}; };
    EXPECT_THROW(read(look), refusal);
    EXPECT_NO_THROW(publish("later"));
}

TEST_F(Reading, SeesOneStateOfTheFile)
{
    const auto look = [&](const SQLite::Database& file) {
        const std::string before = value(file, "SELECT count(*) FROM t");
        other_.sql("INSERT INTO t VALUES (1)");
        return before + value(file, "SELECT count(*) FROM t");
    };
    EXPECT_EQ(read(look), "00");
    EXPECT_EQ(other_.value("SELECT count(*) FROM t"), "1");
}

TEST_F(Reading, SeesWhatWasCommittedBeforeItBegan)
{
    const auto look = [&](const SQLite::Database& file) {
        other_.sql("INSERT INTO t VALUES (1)"); // the state was taken before the call
        return value(file, "SELECT count(*) FROM t");
    };
    EXPECT_EQ(read(look), "0");
}

TEST_F(Reading, TakesNoWriteLock)
{
    const auto look = [&](const SQLite::Database&) { other_.sql("BEGIN IMMEDIATE; COMMIT"); };
    EXPECT_NO_THROW(read(look));
}

TEST_F(Reading, GoesOnWhileAnotherProcessWrites)
{
    other_.sql("BEGIN IMMEDIATE");
    const auto look = [](const SQLite::Database& file) { return value(file, "SELECT 1"); };
    EXPECT_EQ(read(look), "1");
    const auto blocked = start_publish("blocked");
    db_.settle();
    auto reading = db_.start(db_.database().read(look));
    db_.settle();
    db_.advance(std::chrono::milliseconds{2});
    db_.advance(std::chrono::milliseconds{2});
    EXPECT_TRUE(reading.is_done());
    EXPECT_FALSE(blocked.is_done());
    other_.sql("COMMIT");
}

class Write : public Reading, public testing::WithParamInterface<const char*> {};

TEST_P(Write, IsRefusedToAReading)
{
    other_.sql("INSERT INTO t VALUES (1)");
    const auto look = [](const SQLite::Database& file) {
        SQLite::Statement statement(file, GetParam());
        while (statement.executeStep()) {
        }
    };
    EXPECT_THROW(read(look), SQLite::Exception);
    EXPECT_EQ(other_.value("SELECT group_concat(v) FROM t"), "1");
    EXPECT_NO_THROW(publish("later"));
    EXPECT_EQ(other_.value("PRAGMA user_version"), "0");
}

INSTANTIATE_TEST_SUITE_P(Reading, Write,
                         testing::Values("INSERT INTO t VALUES (2)", "UPDATE t SET v = 2",
                                         "DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (v)",
                                         "CREATE TEMP TABLE u (v)", "PRAGMA user_version = 3",
                                         "ATTACH ':memory:' AS other", "COMMIT", "ROLLBACK",
                                         "BEGIN", "REINDEX", "ANALYZE", "VACUUM"));

class Look : public Reading, public testing::WithParamInterface<const char*> {};

TEST_P(Look, IsAllowedToAReading)
{
    other_.sql("INSERT INTO t VALUES (1)");
    const auto look = [](const SQLite::Database& file) { return value(file, GetParam()); };
    EXPECT_NE(read(look), "nothing");
}

INSTANTIATE_TEST_SUITE_P(
    Reading, Look,
    testing::Values("SELECT v FROM t", "PRAGMA page_count", "SELECT name FROM sqlite_schema",
                    "SELECT value FROM json_each('[1]')", "PRAGMA table_info(t)",
                    "PRAGMA integrity_check(1)", "SELECT name FROM pragma_table_info('t')",
                    "WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c LIMIT 3)"
                    " SELECT max(v) FROM c",
                    "EXPLAIN QUERY PLAN SELECT v FROM t"));

TEST_F(Reading, MayLeaveAStatementUnfinished)
{
    other_.sql("INSERT INTO t VALUES (1), (2)");
    std::optional<SQLite::Statement> kept;
    const auto look = [&](const SQLite::Database& file) {
        kept.emplace(file, "SELECT v FROM t");
        EXPECT_TRUE(kept->executeStep());
    };
    EXPECT_NO_THROW(read(look));
    EXPECT_NO_THROW(publish("later"));
    // An unfinished statement would keep the connection from seeing others' commits.
    auto waiting = db_.start(queue_.claim());
    db_.settle();
    EXPECT_EQ(waiting.result().payload(), "later");
}

TEST_F(Reading, ThatIsTheLastToHoldTheDatabaseEndsWell)
{
    auto handle = std::make_shared<skein::database>(db_.database());
    const auto look = [handle](const SQLite::Database& file) { return value(file, "SELECT 1"); };
    auto reading = db_.start(handle->read(look));
    handle.reset();
    EXPECT_FALSE(reading.is_done());
    db_.settle();
    EXPECT_EQ(reading.result(), "1");
}

} // namespace
