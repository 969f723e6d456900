#include "runtime/running_queue.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <future>

namespace {

using namespace std::chrono_literals;
using skein::errc;
using skein::support::plain_connection;

/// A database whose file somebody takes away while it is open. Its watch interval is an hour, so
/// that nothing else makes it look.
class FileReplaced : public skein::support::running_queue {
protected:
    FileReplaced() : running_queue(noting(log_)), neighbour_(path_.parent_path() / "other.db")
    {
        neighbour_.sql("PRAGMA journal_mode = wal; CREATE TABLE here (v)");
        neighbour_.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    }

    static skein::database_options noting(std::vector<std::string>& lines)
    {
        skein::database_options options;
        options.watch_interval = 1h;
        options.log = [&lines](skein::log_level level, std::string_view text) {
            if (level == skein::log_level::warning &&
                text.find("replaced") != std::string_view::npos) {
                lines.emplace_back(text);
            }
        };
        return options;
    }

    void replace() { std::filesystem::rename(path_.parent_path() / "other.db", path_); }

    void expect_everything_refused()
    {
        const auto look = [](const SQLite::Database&) {};
        auto published = start_publish("late");
        auto wrote = start_transaction([](skein::transaction&) { FAIL(); });
        auto claimed = start_claim();
        auto tried = db_.start(queue_.try_claim());
        auto read = db_.start(db_.database().read(look));
        db_.settle();
        EXPECT_EQ(published.error(), errc::file_replaced);
        EXPECT_EQ(wrote.error(), errc::file_replaced);
        EXPECT_EQ(claimed.error(), errc::file_replaced);
        EXPECT_EQ(tried.error(), errc::file_replaced);
        EXPECT_EQ(read.error(), errc::file_replaced);
    }

    std::vector<std::string> log_;
    const std::filesystem::path path_ = db_.path();
    plain_connection neighbour_;
};

TEST_F(FileReplaced, EndsWaitsWithinASecond)
{
    auto waiting = start_claim();
    auto limited = db_.start(queue_.claim_within(10s));
    db_.settle();
    replace();
    db_.settle();
    EXPECT_FALSE(waiting.is_done());
    db_.advance(999ms);
    EXPECT_EQ(waiting.error(), errc::file_replaced);
    EXPECT_EQ(limited.error(), errc::file_replaced);
    EXPECT_EQ(db_.clock().alarms(), 0u);
}

TEST_F(FileReplaced, RefusesEverythingFromThenOn)
{
    publish("before");
    replace();
    expect_everything_refused();
    expect_everything_refused();
    EXPECT_EQ(payloads(), std::vector<std::string>{"before"}) << "the old file got a message";
    EXPECT_EQ(neighbour_.value("SELECT count(*) FROM sqlite_schema"), "1");
    EXPECT_EQ(log_.size(), 1u);
}

TEST_F(FileReplaced, IsFinalAndNamesTheFile)
{
    std::filesystem::remove(path_);
    try {
        db_.run(queue_.publish("g", "m"));
        FAIL();
    } catch (const skein::error& failure) {
        EXPECT_EQ(failure.code(), errc::file_replaced);
        EXPECT_FALSE(failure.is_retryable());
        EXPECT_EQ(std::string(failure.what()).find(path_.string()), 0u) << failure.what();
    }
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(FileReplaced, DoesNotHaltTheClosing)
{
    auto waiting = start_claim();
    db_.settle();
    replace();
    EXPECT_NO_THROW(db_.run(db_.database().close()));
    EXPECT_EQ(waiting.error(), errc::closed);
}

TEST_F(FileReplaced, LeavesTheNewFileAlone)
{
    publish("old");
    replace();
    expect_everything_refused();
    const auto size = std::filesystem::file_size(path_);
    const auto time = std::filesystem::last_write_time(path_);
    db_.run(db_.database().close());
    EXPECT_EQ(std::filesystem::file_size(path_), size);
    EXPECT_EQ(std::filesystem::last_write_time(path_), time);
    EXPECT_TRUE(std::filesystem::exists(path_.string() + "-wal"))
        << "others may have it open already";
}

TEST_F(FileReplaced, GivesUpALeaseQuietly)
{
    publish("held");
    std::optional<skein::message> held = db_.run(queue_.claim());
    auto other = start_claim();
    db_.settle();
    std::filesystem::remove(path_);
    auto extended = db_.start(held->extend(1min));
    db_.settle();
    EXPECT_EQ(extended.error(), errc::file_replaced);
    held.reset();
    db_.settle();
    EXPECT_EQ(other.error(), errc::file_replaced);
}

TEST_F(FileReplaced, IsNothingWhenItIsBackBeforeAnybodyHasLooked)
{
    auto waiting = start_claim();
    db_.settle();
    std::filesystem::rename(path_, path_.parent_path() / "away.db");
    std::filesystem::rename(path_.parent_path() / "away.db", path_);
    db_.advance(1s);
    EXPECT_FALSE(waiting.is_done());
    publish("m");
    EXPECT_EQ(waiting.result().payload(), "m");
}

TEST_F(FileReplaced, StaysFinalWhenTheFileComesBackLater)
{
    std::filesystem::rename(path_, path_.parent_path() / "away.db");
    expect_everything_refused();
    std::filesystem::rename(path_.parent_path() / "away.db", path_);
    expect_everything_refused();
    db_.reopen();
    queue_ = db_.database().transport();
    EXPECT_NO_THROW(publish("anew"));
}

TEST_F(FileReplaced, IsNoticedOfTheWriteAheadLogToo)
{
    auto waiting = start_claim();
    db_.settle();
    std::filesystem::remove(path_.string() + "-wal");
    db_.advance(1s);
    EXPECT_EQ(waiting.error(), errc::file_replaced);
    expect_everything_refused();
}

TEST_F(FileReplaced, IsNoticedOfTheDirectoryToo)
{
    const std::filesystem::path away = path_.parent_path().string() + "-away";
    std::filesystem::rename(path_.parent_path(), away);
    expect_everything_refused();
    std::filesystem::rename(away, path_.parent_path());
}

TEST_F(FileReplaced, IsNotMistakenForADirectoryThatMayNotBeSearchedAnyMore)
{
    auto waiting = start_claim();
    db_.settle();
    std::filesystem::permissions(path_.parent_path(), std::filesystem::perms{0});
    const bool is_root = geteuid() == 0;
    ASSERT_TRUE(!is_root || seteuid(65534) == 0);
    db_.advance(1s);
    publish("m");
    ASSERT_TRUE(!is_root || seteuid(0) == 0);
    std::filesystem::permissions(path_.parent_path(), std::filesystem::perms{0700});
    EXPECT_EQ(waiting.result().payload(), "m");
}

TEST_F(FileReplaced, IsNoticedBetweenTwoReadings)
{
    const auto remove = [this](const SQLite::Database&) { std::filesystem::remove(path_); };
    const auto look = [](const SQLite::Database&) { FAIL() << "read from a file that is gone"; };
    auto first = db_.start(db_.database().read(remove));
    auto second = db_.start(db_.database().read(look));
    db_.settle();
    EXPECT_FALSE(first.has_failed());
    EXPECT_EQ(second.error(), errc::file_replaced);
}

TEST_F(FileReplaced, IsNoticedByThoseWhoWaitForTheLock)
{
    other_.sql("BEGIN IMMEDIATE");
    auto publish = start_publish("m");
    db_.settle();
    replace();
    db_.advance(2ms);
    EXPECT_EQ(publish.error(), errc::file_replaced);
    other_.sql("ROLLBACK");
}

TEST(FileReplacedElsewhere, IsNoticedInEveryJournalMode)
{
    using skein::journal_mode;
    for (const auto journal :
         {journal_mode::wal, journal_mode::truncate, journal_mode::persist, journal_mode::remove}) {
        skein::support::manual_database db(
            {.durability = skein::durability::off, .journal = journal});
        const skein::transport queue = db.database().transport();
        db.run(queue.publish("g", "before"));
        std::filesystem::remove(db.path());
        auto late = db.start(queue.publish("g", "late"));
        db.settle();
        EXPECT_EQ(late.error(), errc::file_replaced);
    }
}

TEST(FileReplacedElsewhere, IsNoticedOnAThreadOfTheDatabasesOwn)
{
    const skein::support::temporary_directory directory;
    const auto clock = std::make_shared<skein::testing::manual_clock>();
    const skein::database database(directory / "test.db",
                                   {.durability = skein::durability::off, .clock = clock});
    const skein::transport queue = database.transport();
    asio::thread_pool callers(1);
    auto waiting = asio::co_spawn(callers, queue.claim(), asio::use_future);
    asio::co_spawn(callers, queue.claim_within(0s), asio::use_future).get(); // the tables are there
    std::filesystem::remove(directory / "test.db");
    // Time passes until the wait has begun and has been ended.
    while (waiting.wait_for(1ms) != std::future_status::ready) {
        clock->advance(1s);
    }
    const auto code_of = [](auto& future) {
        try {
            future.get();
        } catch (const skein::error& failure) {
            return failure.code();
        }
        return std::error_code();
    };
    EXPECT_EQ(code_of(waiting), errc::file_replaced);
    auto late = asio::co_spawn(callers, queue.publish("g", "late"), asio::use_future);
    EXPECT_EQ(code_of(late), errc::file_replaced);
    asio::co_spawn(callers, database.close(), asio::use_future).get();
}

} // namespace
