#include "support/manual_database.hpp"
#include "support/other_process.hpp"
#include "support/plain_connection.hpp"
#include "support/run_coroutine.hpp"
#include "support/statement_counter.hpp"
#include "support/temporary_directory.hpp"

#include <skein/database.hpp>
#include <skein/error.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

namespace {

using namespace std::chrono_literals;
using skein::errc;
using skein::support::manual_database;
using testing::HasSubstr;

class Opening : public testing::Test {
protected:
    /// Opens; returns why it failed, if it did.
    std::optional<skein::error> open(const std::filesystem::path& path,
                                     const skein::database_options& options = {})
    {
        try {
            const skein::database database(context_.get_executor(), path, options);
        } catch (const skein::error& failure) {
            return failure;
        }
        return std::nullopt;
    }

    void expect_refused(const std::filesystem::path& path, errc code,
                        const skein::database_options& options = {})
    {
        const auto failure = open(path, options);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->code(), code);
        EXPECT_THAT(failure->what(), HasSubstr(path.string()));
    }

    asio::io_context context_;
    skein::support::temporary_directory directory_;
    const std::filesystem::path path_ = directory_ / "test.db";
};

/// Rights are not checked for root, so a test of them is somebody else meanwhile.
class without_rights {
public:
    without_rights()
    {
        if (geteuid() == 0 && seteuid(65534) != 0) {
            throw std::runtime_error("seteuid");
        }
    }
    without_rights(const without_rights&) = delete;
    without_rights& operator=(const without_rights&) = delete;
    ~without_rights()
    {
        if (seteuid(getuid()) != 0) {
            std::terminate();
        }
    }
};

std::string pragma(manual_database& db, const std::string& name)
{
    const auto look = [&](const SQLite::Database& file) {
        SQLite::Statement statement(file, "PRAGMA " + name);
        statement.executeStep();
        return statement.getColumn(0).getString();
    };
    return db.run(db.database().read(look));
}

TEST_F(Opening, CreatesTheFileInWalModeWithFullDurability)
{
    const skein::database database(context_.get_executor(), path_);
    const auto look = [](const SQLite::Database& file) {
        SQLite::Statement journal(file, "PRAGMA journal_mode");
        SQLite::Statement synchronous(file, "PRAGMA synchronous");
        journal.executeStep();
        synchronous.executeStep();
        return journal.getColumn(0).getString() + synchronous.getColumn(0).getString();
    };
    EXPECT_EQ(skein::support::run_coroutine(context_, database.read(look)), "wal2");
}

TEST_F(Opening, SetsTheDurability)
{
    manual_database full(directory_ / "full.db", {.durability = skein::durability::full});
    EXPECT_EQ(pragma(full, "synchronous"), "2");
    manual_database normal(directory_ / "normal.db", {.durability = skein::durability::normal});
    EXPECT_EQ(pragma(normal, "synchronous"), "1");
    manual_database off(directory_ / "off.db", {.durability = skein::durability::off});
    EXPECT_EQ(pragma(off, "synchronous"), "0");
}

TEST_F(Opening, SetsTheJournalMode)
{
    using skein::journal_mode;
    const std::pair<journal_mode, std::string> modes[] = {{journal_mode::truncate, "truncate"},
                                                          {journal_mode::wal, "wal"},
                                                          {journal_mode::persist, "persist"},
                                                          {journal_mode::remove, "delete"}};
    for (const auto& [mode, name] : modes) {
        manual_database db(path_, {.journal = mode});
        EXPECT_EQ(pragma(db, "journal_mode"), name);
        db.run(db.database().transport().publish("g", name));
    }
    EXPECT_EQ(skein::support::plain_connection(path_).value(
                  "SELECT count(*) FROM harel_transport_messages"),
              "4");
}

TEST_F(Opening, RefusesOptionsThatAreNone)
{
    const auto refused = [&](const skein::database_options& options, const char* argument) {
        const auto failure = open(path_, options);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->code(), errc::invalid_argument);
        EXPECT_THAT(failure->what(), HasSubstr(argument));
    };
    refused({.busy_timeout = -1ms}, "busy_timeout");
    refused({.watch_interval = 0us}, "watch_interval");
    refused({.watch_interval = -1us}, "watch_interval");
    refused({.watch = static_cast<skein::watch>(7)}, "watch");
    refused({.durability = static_cast<skein::durability>(7)}, "durability");
    refused({.journal = static_cast<skein::journal_mode>(7)}, "journal");
}

TEST_F(Opening, TakesTheLongestTimes)
{
    manual_database db(path_, {.busy_timeout = std::chrono::milliseconds::max(),
                               .watch_interval = std::chrono::microseconds::max()});
    skein::support::plain_connection other(path_);
    other.sql("BEGIN IMMEDIATE");
    auto publish = db.start(db.database().transport().publish("g", "m"));
    for (int each = 0; each < 10; ++each) {
        db.advance(24h);
    }
    EXPECT_FALSE(publish.is_done());
    other.sql("COMMIT");
    db.advance(1s);
    EXPECT_TRUE(publish.is_done());
}

TEST_F(Opening, WithATimeoutOfNothingStillWorks)
{
    manual_database db(path_, {.busy_timeout = 0ms});
    db.run(db.database().transport().publish("g", "m"));
    skein::support::plain_connection other(path_);
    other.sql("BEGIN IMMEDIATE");
    auto publish = db.start(db.database().transport().publish("g", "m"));
    for (int each = 0; each < 5; ++each) {
        db.advance(1ms);
    }
    EXPECT_EQ(publish.error(), errc::busy);
}

TEST_F(Opening, RefusesAnEmptyPath)
{
    const auto failure = open("");
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), errc::invalid_argument);
}

TEST_F(Opening, RefusesADirectory)
{
    expect_refused(directory_.path(), errc::storage_failure);
}

TEST_F(Opening, RefusesAPathThroughADirectoryThatIsNotThere)
{
    expect_refused(directory_ / "missing" / "test.db", errc::storage_failure);
}

TEST_F(Opening, RefusesAFileThatIsNoDatabase)
{
    std::ofstream(path_) << std::string(10'000, 'x');
    expect_refused(path_, errc::storage_failure);
}

TEST_F(Opening, RefusesADirectoryThatCannotBeWritten)
{
    std::filesystem::permissions(directory_.path(), std::filesystem::perms{0555});
    {
        const without_rights nobody;
        expect_refused(path_, errc::storage_failure);
    }
    std::filesystem::permissions(directory_.path(), std::filesystem::perms{0777});
}

TEST_F(Opening, RefusesAFileThatCannotBeWritten)
{
    for (const char* mode : {"wal", "delete"}) {
        skein::support::plain_connection(path_).sql(std::string("PRAGMA journal_mode = ") + mode +
                                                    "; CREATE TABLE IF NOT EXISTS t (v)");
        std::filesystem::permissions(directory_.path(), std::filesystem::perms{0777});
        std::filesystem::permissions(path_, std::filesystem::perms{0444});
        const without_rights nobody;
        expect_refused(path_, errc::storage_failure);
    }
}

TEST_F(Opening, MakesThePathAbsoluteAtOnce)
{
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(directory_.path());
    const skein::database database(context_.get_executor(), "test.db");
    std::filesystem::current_path(before);
    EXPECT_EQ(database.path(), path_);
    skein::support::operation<void> publish(context_, database.transport().publish("g", "m"));
    context_.run();
    EXPECT_FALSE(publish.has_failed());
    EXPECT_FALSE(std::filesystem::exists(before / "test.db-wal"));
    EXPECT_TRUE(std::filesystem::exists(path_.string() + "-wal"));
}

TEST_F(Opening, TakesPathsThatSqliteWouldReadInAnotherWay)
{
    for (const char* name : {"file:test.db?mode=ro", "a b#c%20.db", "\xc3\xa4\xe2\x82\xac.db"}) {
        manual_database db(directory_ / name);
        db.run(db.database().transport().publish("g", "m"));
        EXPECT_TRUE(std::filesystem::exists(directory_ / name));
    }
}

TEST_F(Opening, WaitsWhileAnotherProcessHoldsTheFile)
{
    skein::support::other_process other(path_);
    other.sql("PRAGMA journal_mode = delete");
    other.sql("CREATE TABLE t (v)");
    other.lock_for(50ms);
    EXPECT_FALSE(open(path_));
}

TEST_F(Opening, EndsWithBusyWhenAnotherProcessKeepsTheFile)
{
    skein::support::other_process other(path_);
    other.sql("PRAGMA journal_mode = delete");
    other.sql("CREATE TABLE t (v)");
    other.sql("BEGIN EXCLUSIVE");
    expect_refused(path_, errc::busy, {.busy_timeout = 20ms});
    other.sql("COMMIT");
    EXPECT_FALSE(open(path_));
}

TEST_F(Opening, RecoversWhatAKilledProcessHasLeft)
{
    skein::support::other_process other(path_);
    other.sql("PRAGMA journal_mode = wal");
    other.sql("PRAGMA wal_autocheckpoint = 0");
    other.sql("CREATE TABLE t (v)");
    other.sql("WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c LIMIT 5000)"
              " INSERT INTO t SELECT zeroblob(2000) FROM c");
    other.sql("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)");
    other.kill();
    EXPECT_GT(std::filesystem::file_size(path_.string() + "-wal"), 5'000'000u);
    manual_database db(path_);
    const auto look = [](const SQLite::Database& file) {
        SQLite::Statement count(file, "SELECT count(*) FROM t");
        count.executeStep();
        return count.getColumn(0).getInt();
    };
    EXPECT_EQ(db.run(db.database().read(look)), 5000);
    db.run(db.database().transport().publish("g", "m"));
}

TEST_F(Opening, OfADatabaseInMemoryIsPossible)
{
    manual_database db(":memory:");
    db.run(db.database().transport().publish("g", "m"));
    EXPECT_EQ(db.run(db.database().transport().claim()).payload(), "m");
}

TEST_F(Opening, TellsTheLog)
{
    std::vector<std::string> lines;
    const auto log = [&](skein::log_level, std::string_view text) { lines.emplace_back(text); };
    EXPECT_FALSE(open(path_, {.warn_of_wal_reset_bug = false, .log = log}));
    context_.run(); // the closing is told too
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_THAT(lines.front(), HasSubstr(path_.string() + ": opened"));
    EXPECT_THAT(lines.back(), HasSubstr(path_.string() + ": closed"));
}

/// The warnings of an opening that have `part` in them.
int warnings(const std::filesystem::path& path, const char* part, skein::database_options options)
{
    int found = 0;
    options.log = [&](skein::log_level level, std::string_view text) {
        const bool is_it = text.find(part) != std::string_view::npos;
        found += level == skein::log_level::warning && is_it ? 1 : 0;
    };
    manual_database db(path, options);
    return found;
}

TEST_F(Opening, WarnsOfAnSqliteThatMayLoseCommits)
{
    const int version = sqlite3_libversion_number();
    const bool is_repaired = version >= 3051003 || (version >= 3050007 && version < 3051000) ||
                             (version >= 3044006 && version < 3045000);
    EXPECT_EQ(warnings(path_, sqlite3_libversion(), {}), is_repaired ? 0 : 1);
    EXPECT_EQ(warnings(path_, "WAL-reset", {.warn_of_wal_reset_bug = false}), 0);
    EXPECT_EQ(warnings(path_, "WAL-reset", {.journal = skein::journal_mode::truncate}), 0);
    EXPECT_EQ(warnings(":memory:", "WAL-reset", {}), 0);
}

class InMemory : public testing::Test {
protected:
    manual_database db_{":memory:"};
    skein::transport queue_ = db_.database().transport();
};

TEST_F(InMemory, QueuesWork)
{
    auto waiting = db_.start(queue_.claim());
    db_.settle();
    EXPECT_FALSE(waiting.is_done());
    db_.run(queue_.publish("g", "first"));
    db_.run(queue_.publish("g", "second"));
    skein::message first = waiting.result();
    EXPECT_EQ(first.payload(), "first");
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_TRUE(db_.run(first.ack()));
    EXPECT_EQ(db_.run(queue_.claim()).payload(), "second");
    db_.run(db_.database().close());
    auto late = db_.start(queue_.claim());
    db_.settle();
    EXPECT_EQ(late.error(), errc::closed);
}

TEST_F(InMemory, NobodyElseIsAskedFor)
{
    sqlite3* const handle = db_.handle();
    auto waiting = db_.start(queue_.claim());
    db_.settle();
    skein::support::statement_counter statements(handle);
    for (int each = 0; each < 100; ++each) {
        db_.advance(1ms);
    }
    EXPECT_EQ(statements.count(), 0u);
    EXPECT_EQ(db_.clock().alarms(), 1u) << "the one for what falls due";
    db_.run(queue_.publish("g", "m"));
    EXPECT_EQ(waiting.result().payload(), "m");
}

TEST_F(InMemory, DatabasesAreEachForThemselves)
{
    manual_database other(":memory:");
    db_.run(queue_.publish("g", "m"));
    EXPECT_FALSE(other.run(other.database().transport().try_claim()));
}

class PayloadLimit : public testing::Test {
protected:
    manual_database db_;
    skein::transport queue_ = db_.database().transport();
};

TEST_F(PayloadLimit, IsCheckedBeforeAnythingIsCopied)
{
    // As long as SQLite's limit, and no memory behind it: the first look at it would end the test.
    constexpr std::size_t size = 1'000'000'000;
    void* const nothing =
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(nothing, MAP_FAILED);
    const std::string_view payload(static_cast<const char*>(nothing), size);
    try {
        static_cast<void>(queue_.publish("g", payload));
        FAIL();
    } catch (const skein::error& failure) {
        EXPECT_EQ(failure.code(), errc::payload_too_large);
        EXPECT_FALSE(failure.is_retryable());
    }
    munmap(nothing, size);
}

TEST_F(PayloadLimit, OfTheConnectionIsKept)
{
    db_.run(queue_.publish("g", "first"));
    sqlite3_limit(db_.handle(), SQLITE_LIMIT_LENGTH, 100'000);
    auto large = db_.start(queue_.publish("large", std::string(200'000, 'x')));
    auto small = db_.start(queue_.publish("small", "small"));
    db_.settle();
    EXPECT_EQ(large.error(), errc::payload_too_large);
    EXPECT_FALSE(small.has_failed());
    EXPECT_TRUE(small.is_done());
    EXPECT_EQ(skein::support::plain_connection(db_.path())
                  .value("SELECT group_concat(group_id) FROM harel_transport_groups"),
              "g,small");
}

} // namespace
