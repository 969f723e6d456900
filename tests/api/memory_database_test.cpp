#include "support/manual_database.hpp"
#include "support/run_coroutine.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>
#include <skein/testing/memory_database.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using ::testing::ElementsAre;

/// A database in memory, run by the test, and a connection of the test's own to it.
class MemoryDatabase : public ::testing::Test {
protected:
    std::string value(const std::string& query) { return own_.execAndGet(query).getString(); }

    skein::testing::memory_database memory_;
    manual_database db_{memory_.path()};
    SQLite::Database own_{memory_.path().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_URI};
};

TEST_F(MemoryDatabase, LeavesNoFile)
{
    db_.run(db_.database().queue("q").enqueue("1"));
    EXPECT_EQ(db_.database().path(), memory_.path());
    for (const char* where : {"/", "."}) {
        for (const auto& each : std::filesystem::directory_iterator(where)) {
            EXPECT_EQ(each.path().string().find("skein-memory"), std::string::npos) << each;
        }
    }
}

TEST_F(MemoryDatabase, Queues)
{
    const skein::queue queue = db_.database().queue("q");
    auto waiting = db_.start(queue.claim());
    db_.settle();
    db_.run(queue.enqueue("1"));
    ASSERT_TRUE(waiting.is_done());
    job claimed = waiting.result();
    EXPECT_NE(db_.run(claimed.retry(5s, "not yet")), retry_outcome::stale);
    EXPECT_FALSE(db_.run(queue.try_claim()));
    db_.advance(5s);
    job again = db_.run(queue.claim());
    EXPECT_EQ(again.attempt(), 2);
    EXPECT_TRUE(db_.run(again.fail("no")));
    EXPECT_EQ(db_.run(queue.dead_letters().list()).size(), 1U);
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead"), "1");
}

TEST_F(MemoryDatabase, Transports)
{
    const skein::transport messages = db_.database().transport();
    db_.run(messages.publish("g", "first"));
    db_.run(messages.publish("g", "second"));
    message first = db_.run(messages.claim());
    EXPECT_FALSE(db_.run(messages.try_claim()));
    EXPECT_TRUE(db_.run(first.ack()));
    EXPECT_EQ(db_.run(messages.claim()).payload(), "second");
    db_.advance(31s);
    EXPECT_EQ(db_.run(messages.claim()).payload(), "second");
}

TEST_F(MemoryDatabase, StreamsAndNotifications)
{
    const skein::stream topic = db_.database().stream("t");
    db_.run(topic.publish("1"));
    consumer reader = db_.run(topic.consumer("c"));
    EXPECT_EQ(db_.run(reader.next()).payload, "1");
    EXPECT_TRUE(db_.run(reader.save()));
    listener hearer = db_.run(db_.database().listen("c"));
    db_.run(db_.database().notify("c", "2"));
    EXPECT_EQ(db_.run(hearer.next()).payload, "2");
}

TEST_F(MemoryDatabase, SchedulesLocksAndLimits)
{
    const skein::scheduler schedules = db_.database().scheduler();
    db_.run(schedules.add("s", "q", "@every 10s", "1"));
    const auto running = db_.start(schedules.run());
    auto waiting = db_.start(db_.database().queue("q").claim());
    db_.settle();
    db_.advance(10s);
    EXPECT_TRUE(waiting.is_done());
    lock_guard guard = db_.run(db_.database().lock("l").acquire());
    EXPECT_FALSE(db_.run(db_.database().lock("l").try_acquire()));
    const skein::rate_limit limit = db_.database().rate_limit("r", {.permits = 1, .per = 10s});
    EXPECT_TRUE(db_.run(limit.try_take()));
    EXPECT_FALSE(db_.run(limit.try_take()));
}

TEST_F(MemoryDatabase, ARelayAndAnOutbox)
{
    std::vector<std::string> taken;
    const auto take = [&](const relayed_event& each) -> asio::awaitable<void> {
        taken.push_back(each.id);
        co_return;
    };
    const auto relay = db_.start(db_.database().stream("outbox").relay("r").run(take));
    db_.settle();
    own_.exec("BEGIN IMMEDIATE; CREATE TABLE orders (id)");
    publish_event(own_, "outbox", "1");
    own_.exec("COMMIT");
    db_.advance(1ms);
    EXPECT_THAT(taken, ElementsAre("outbox:1"));
}

TEST_F(MemoryDatabase, IsSharedByTheDatabasesOfOnePath)
{
    manual_database other(memory_.path(), manual_database::quick(), db_.clock_to_share());
    auto waiting = other.start(other.database().queue("q").claim());
    other.settle();
    db_.run(db_.database().queue("q").enqueue("1"));
    other.advance(1ms);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "1");
}

TEST_F(MemoryDatabase, WaitsForTheLockOfAnother)
{
    const skein::queue queue = db_.database().queue("q");
    db_.run(queue.enqueue("1"));
    own_.exec("BEGIN IMMEDIATE");
    auto enqueue = db_.start(queue.enqueue("2"));
    db_.advance(1s);
    EXPECT_FALSE(enqueue.is_done());
    own_.exec("COMMIT");
    db_.advance(1ms);
    EXPECT_TRUE(enqueue.is_done());
    EXPECT_FALSE(enqueue.has_failed());
}

TEST_F(MemoryDatabase, SurvivesARestart)
{
    db_.run(db_.database().queue("q").enqueue("1"));
    db_.reopen();
    EXPECT_EQ(db_.run(db_.database().queue("q").claim()).payload(), "1");
}

TEST(MemoryDatabases, AreEachForThemselves)
{
    const skein::testing::memory_database one;
    const skein::testing::memory_database two;
    manual_database first(one.path());
    manual_database second(two.path());
    first.run(first.database().queue("q").enqueue("1"));
    EXPECT_FALSE(second.run(second.database().queue("q").try_claim()));
}

TEST(MemoryDatabases, AreGoneWithTheLastThatUsesThem)
{
    std::filesystem::path path;
    {
        const skein::testing::memory_database memory;
        path = memory.path();
        manual_database db(path);
        db.run(db.database().queue("q").enqueue("1"));
    }
    manual_database again(path);
    EXPECT_FALSE(again.run(again.database().queue("q").try_claim()));
}

asio::awaitable<void> work(skein::queue queue, std::atomic<int>& done, int count)
{
    while (done < count) {
        std::optional<job> claimed = co_await queue.claim_within(10ms);
        if (claimed) {
            co_await claimed->ack();
            ++done;
        }
    }
}

asio::awaitable<void> fill(skein::queue queue, int count)
{
    for (int each = 0; each < count; ++each) {
        co_await queue.enqueue("1");
    }
}

TEST(MemoryDatabases, ServeSeveralThreadsAtOnce)
{
    constexpr int count = 500;
    const skein::testing::memory_database memory;
    const skein::database first(memory.path());
    const skein::database second(memory.path());
    std::atomic<int> done = 0;
    asio::io_context context;
    std::vector<std::future<void>> all;
    all.push_back(asio::co_spawn(context, fill(first.queue("q"), count), asio::use_future));
    all.push_back(asio::co_spawn(context, work(first.queue("q"), done, count), asio::use_future));
    all.push_back(asio::co_spawn(context, work(second.queue("q"), done, count), asio::use_future));
    context.run();
    for (std::future<void>& each : all) {
        EXPECT_NO_THROW(each.get());
    }
    EXPECT_EQ(done, count);
}

} // namespace
