#include "runtime/running_queue.hpp"

#include <sqlite3.h>

#include <filesystem>

namespace {

using skein::support::operation;

constexpr std::uintmax_t megabyte = 1024 * 1024;

class Checkpoint : public skein::support::running_queue {
protected:
    std::uintmax_t log_size() const
    {
        return std::filesystem::file_size(db_.path().string() + "-wal");
    }

    /// Writes some 30 MB in as many commits, and leaves the queue as it was.
    void work()
    {
        const std::string payload(8000, 'x');
        for (int each = 0; each < 700; ++each) {
            publish(payload);
            auto message = db_.run(queue_.claim());
            EXPECT_TRUE(db_.run(message.ack()));
        }
    }
};

TEST_F(Checkpoint, KeepsTheLogFromGrowingWithoutBound)
{
    for (int each = 0; each < 3; ++each) {
        work();
        EXPECT_LT(log_size(), 20 * megabyte);
    }
}

TEST_F(Checkpoint, GoesOnOnceAReaderHasLeft)
{
    other_.sql("BEGIN; SELECT * FROM t");
    work();
    const std::uintmax_t pinned = log_size();
    EXPECT_GT(pinned, 12 * megabyte);
    other_.sql("COMMIT");
    work();
    work();
    EXPECT_LT(log_size(), pinned + 20 * megabyte);
    EXPECT_LT(std::filesystem::file_size(db_.path()), 4 * megabyte);
}

class GrowingLog : public Checkpoint {
protected:
    GrowingLog() { db_.drop_database(); }

    /// Opens anew, with a note of what the log is told of its size.
    void open()
    {
        skein::database_options options = without_syncs({});
        options.log = [this](skein::log_level level, std::string_view text) {
            if (level == skein::log_level::warning &&
                text.find("grown to") != std::string_view::npos) {
                warnings_.emplace_back(text);
            }
        };
        grown_.emplace(db_.path(), options);
    }

    /// Commits some 4 MB.
    void grow()
    {
        const auto write = [](skein::transaction& tx) {
            tx.database().exec("INSERT INTO t VALUES (randomblob(4000000))");
            tx.database().exec("DELETE FROM t");
        };
        grown_->run(grown_->database().transaction(write));
    }

    std::vector<std::string> warnings_;
    std::optional<skein::support::manual_database> grown_;
};

TEST_F(GrowingLog, IsToldOfOncePerDoubling)
{
    open();
    other_.sql("BEGIN; SELECT * FROM t");
    for (int each = 0; each < 36; ++each) {
        grow();
    }
    ASSERT_EQ(warnings_.size(), 2u) << "one from 64 MB on, one from twice as much on";
    EXPECT_NE(warnings_[0].find(db_.path().string() + ": "), std::string::npos);
    EXPECT_NE(warnings_[0].find(" 6"), std::string::npos) << warnings_[0];
    other_.sql("COMMIT");
}

TEST_F(GrowingLog, IsNoNewsWhileCheckpointsKeepUp)
{
    open();
    for (int each = 0; each < 25; ++each) {
        grow();
    }
    EXPECT_EQ(warnings_.size(), 0u);
}

// What happens inside a write to the database file: only a checkpoint does that.
sqlite3_io_methods watched_methods;
int (*original_write)(sqlite3_file*, const void*, int, sqlite3_int64) = nullptr;
std::function<void()> during_write;

int watched_write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset)
{
    during_write();
    return original_write(file, bytes, count, offset);
}

void watch_writes(sqlite3* connection, std::function<void()> hook)
{
    sqlite3_file* file = nullptr;
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    watched_methods = *file->pMethods;
    original_write = watched_methods.xWrite;
    watched_methods.xWrite = &watched_write;
    during_write = std::move(hook);
    file->pMethods = &watched_methods;
}

TEST_F(Checkpoint, ComesAfterTheResultsHaveBeenDelivered)
{
    asio::io_context callers;
    operation<void> large(callers, queue_.publish("g", std::string(20'000'000, 'x')));
    operation<skein::message> claim(callers, queue_.claim());
    int writes = 0;
    int late = 0;
    watch_writes(handle_, [&] {
        callers.restart();
        callers.poll();
        ++writes;
        late += large.is_done() && claim.is_done() ? 0 : 1;
    });
    callers.poll();
    db_.settle();
    EXPECT_GT(writes, 0) << "there was no checkpoint";
    EXPECT_EQ(late, 0);
    during_write = [] {};
}

} // namespace
