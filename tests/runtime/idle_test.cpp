#include "runtime/running_queue.hpp"

#include <sqlite3.h>

#include <filesystem>

namespace {

using namespace std::chrono_literals;
using skein::support::statement_counter;

class Idle : public skein::support::running_queue {
protected:
    void tick(int times)
    {
        for (int each = 0; each < times; ++each) {
            db_.advance(1ms);
        }
    }
};

/// What the file system knows of the database. The files themselves are not opened: closing one
/// would give up this process's locks on it.
struct footprint {
    explicit footprint(const std::filesystem::path& path)
    {
        for (const char* suffix : {"", "-wal", "-journal"}) {
            const std::filesystem::path file = path.string() + suffix;
            if (std::filesystem::exists(file)) {
                sizes.push_back(std::filesystem::file_size(file));
                times.push_back(std::filesystem::last_write_time(file));
            }
        }
    }
    bool operator==(const footprint&) const = default;

    std::vector<std::uintmax_t> sizes;
    std::vector<std::filesystem::file_time_type> times;
};

TEST_F(Idle, DatabaseWithWaitersWritesNothing)
{
    publish("leased");
    const auto held = db_.run(queue_.claim());
    std::vector<skein::support::operation<skein::message>> waiting;
    for (int each = 0; each < 10; ++each) {
        waiting.push_back(start_claim());
    }
    waiting.push_back(start_claim({.min_priority = 3}));
    db_.settle();
    const footprint before(db_.path());
    statement_counter statements(handle_);
    tick(1000);
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(footprint(db_.path()), before);
    EXPECT_EQ(statements.count("BEGIN"), 0u);
}

TEST_F(Idle, DatabaseWithWaitersTakesNoWriteLock)
{
    sqlite3_busy_timeout(other_.handle(), 0);
    auto waiting = start_claim();
    db_.settle();
    for (int each = 0; each < 100; ++each) {
        EXPECT_NO_THROW(other_.sql("BEGIN IMMEDIATE"));
        tick(1);
        EXPECT_NO_THROW(other_.sql("COMMIT"));
        tick(1);
    }
    statement_counter statements(handle_);
    other_.sql("INSERT INTO t VALUES (1)"); // a reason to look
    tick(10);
    EXPECT_GT(statements.count("SELECT"), 0u);
    EXPECT_EQ(statements.count("BEGIN"), 0u);
    EXPECT_FALSE(waiting.is_done());
}

TEST_F(Idle, DatabaseSetsNoAlarm)
{
    EXPECT_EQ(db_.clock().alarms(), 0u);
    publish("m");
    auto message = db_.run(queue_.claim());
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(db_.clock().alarms(), 0u);
    auto waiting = start_claim();
    db_.settle();
    EXPECT_GT(db_.clock().alarms(), 0u);
    EXPECT_TRUE(db_.run(message.nack()));
    EXPECT_TRUE(waiting.is_done());
    EXPECT_EQ(db_.clock().alarms(), 0u);
}

TEST_F(Idle, DatabaseSetsNoAlarmOnceTheLastWaiterIsCancelled)
{
    auto first = start_claim();
    auto second = db_.start(queue_.claim_within(10s));
    db_.settle();
    first.cancel();
    db_.settle();
    EXPECT_GT(db_.clock().alarms(), 0u);
    second.cancel();
    db_.settle();
    EXPECT_EQ(db_.clock().alarms(), 0u);
}

TEST_F(Idle, DatabaseSetsNoAlarmAfterAWaitForTheLock)
{
    other_.sql("BEGIN IMMEDIATE");
    const auto publish = start_publish("m");
    db_.settle();
    EXPECT_EQ(db_.clock().alarms(), 1u);
    other_.sql("COMMIT");
    tick(5);
    EXPECT_TRUE(publish.is_done());
    EXPECT_EQ(db_.clock().alarms(), 0u);
}

TEST_F(Idle, DatabaseLetsItsContextRunOutOfWork)
{
    asio::io_context context;
    const skein::database database(context.get_executor(), db_.path());
    context.run(); // returns although the database is open
    context.restart();
    const skein::transport queue = database.transport();
    const skein::support::operation<void> publish(context, queue.publish("g", "m"));
    context.run();
    EXPECT_TRUE(publish.is_done());
    context.restart();
    skein::support::operation<skein::message> claim(context, queue.claim());
    skein::support::operation<skein::message> waiting(context, queue.claim());
    context.poll();
    waiting.cancel();
    context.run();
    EXPECT_TRUE(claim.is_done());
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Idle, DatabaseDoesNotLetItsContextRunOutOfWorkWhileSomebodyWaits)
{
    asio::io_context context;
    const skein::database database(context.get_executor(), db_.path());
    skein::support::operation<std::optional<skein::message>> claim(
        context, database.transport().claim_within(5ms));
    context.run();
    EXPECT_TRUE(claim.is_done());
}

} // namespace
