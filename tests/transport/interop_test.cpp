#include "store/older_program.hpp"
#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <skein/database.hpp>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;
using store::older_program;

constexpr int groups = 5;
constexpr int messages_each = 150; // of each program's
constexpr duration long_lease = 1h;

std::string group_of(int message)
{
    return "g" + std::to_string(message % groups);
}

double seconds_now()
{
    return duration(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// What both programs have been handed, and that they never hold messages of one group together.
class ledger {
public:
    void begin(const std::string& group, const std::string& payload)
    {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(held_.insert(group).second) << group << " was held twice";
        handed_[group + payload.front()].push_back(std::stoi(payload.substr(1)));
    }

    void end(const std::string& group)
    {
        const std::lock_guard lock(mutex_);
        held_.erase(group);
        ++done_;
    }

    [[nodiscard]] bool is_complete()
    {
        const std::lock_guard lock(mutex_);
        return done_ == 2 * messages_each;
    }

    /// Each program's messages of each group came once, in the order they were published.
    void expect_all_in_order() const
    {
        for (int group = 0; group < groups; ++group) {
            for (const char* const publisher : {"o", "s"}) {
                std::vector<int> expected;
                for (int each = group; each < messages_each; each += groups) {
                    expected.push_back(each);
                }
                EXPECT_EQ(handed_.at(group_of(group) + publisher), expected);
            }
        }
    }

private:
    std::mutex mutex_;
    std::set<std::string> held_;
    std::map<std::string, std::vector<int>> handed_;
    int done_ = 0;
};

asio::awaitable<void> publish_all(transport transport)
{
    for (int each = 0; each < messages_each; ++each) {
        const std::string group = group_of(each);
        const std::string payload = "s" + std::to_string(each);
        co_await transport.publish(group, payload);
    }
}

asio::awaitable<void> work(transport transport, ledger& handed)
{
    while (!handed.is_complete()) {
        claim_options options;
        options.visibility = long_lease;
        std::optional<message> claimed = co_await transport.claim_within(20ms, options);
        if (claimed) {
            const std::string group(claimed->group());
            handed.begin(group, std::string(claimed->payload()));
            const bool is_extended = co_await claimed->extend(long_lease);
            EXPECT_TRUE(is_extended);
            handed.end(group);
            const bool is_ours = co_await claimed->ack();
            EXPECT_TRUE(is_ours);
        }
    }
}

/// Publishes and works off, a little of each in turn.
void run_older(older_program& program, ledger& handed)
{
    for (int each = 0; !handed.is_complete(); ++each) {
        if (each < messages_each) {
            program.publish(group_of(each), "o" + std::to_string(each));
        }
        const auto claimed = program.claim("older", seconds_now(), long_lease.count());
        if (claimed) {
            handed.begin(claimed->group, claimed->event);
            handed.end(claimed->group);
            program.ack(*claimed);
        }
    }
}

TEST(TransportInterop, TwoProgramsWorkOnOneFileAtTheSameTime)
{
    const support::temporary_directory directory;
    const std::filesystem::path path = directory / "test.db";
    ledger handed;
    {
        const database db(path, {.durability = durability::normal});
        const transport transport = db.transport();
        asio::io_context io;
        std::vector<std::future<void>> running;
        running.push_back(asio::co_spawn(io, publish_all(transport), asio::use_future));
        for (int each = 0; each < 3; ++each) {
            running.push_back(asio::co_spawn(io, work(transport, handed), asio::use_future));
        }
        std::thread ours([&io] { io.run(); });
        running.front().wait(); // the tables are there, and the other program finds a backlog
        support::other_process process(path);
        older_program theirs(process);
        run_older(theirs, handed);
        ours.join();
        for (auto& each : running) {
            EXPECT_NO_THROW(each.get());
        }
    }
    handed.expect_all_in_order();
    const support::plain_connection file(path);
    EXPECT_EQ(file.value("SELECT count(*) FROM harel_transport_messages"), "0");
    EXPECT_EQ(file.value("PRAGMA integrity_check"), "ok");
}

class TransportInteropInTurns : public ::testing::Test {
protected:
    TransportInteropInTurns() { database_.run(transport_.repair()); } // makes the tables

    std::string claim_payload(duration visibility = 30s)
    {
        auto claimed = database_.run(transport_.try_claim({.visibility = visibility}));
        if (!claimed) {
            return "none";
        }
        kept_.push_back(*std::move(claimed));
        return std::string(kept_.back().payload());
    }

    std::string claim_theirs(double now)
    {
        const auto claimed = theirs_.claim("w", now);
        return claimed ? claimed->event : "none";
    }

    support::manual_database database_;
    transport transport_ = database_.database().transport();
    support::other_process process_{database_.path()};
    older_program theirs_{process_};
    std::vector<message> kept_;
};

TEST_F(TransportInteropInTurns, ReadsPythonRow)
{
    for (const char* const each : {"leased", "parked", "free"}) {
        theirs_.publish(each, each);
    }
    ASSERT_EQ(theirs_.claim("w", 100, 10)->event, "leased");
    theirs_.park(theirs_.claim("w", 100).value(), 120);
    EXPECT_EQ(claim_payload(1h), "free");
    EXPECT_EQ(claim_payload(), "none");
    database_.advance(10s);
    EXPECT_EQ(claim_payload(), "none") << "at its very end a lease still holds";
    database_.advance(1s);
    EXPECT_EQ(claim_payload(1h), "leased");
    database_.advance(10s);
    EXPECT_EQ(claim_payload(), "parked");
}

TEST_F(TransportInteropInTurns, PythonReadsOurs)
{
    for (const char* const each : {"leased", "parked", "free"}) {
        database_.run(transport_.publish(each, each));
    }
    ASSERT_EQ(claim_payload(10s), "leased");
    ASSERT_EQ(claim_payload(), "parked");
    ASSERT_TRUE(database_.run(kept_.back().nack(20s)));
    EXPECT_EQ(claim_theirs(100), "free");
    EXPECT_EQ(claim_theirs(110), "none");
    EXPECT_EQ(claim_theirs(110.5), "leased");
    EXPECT_EQ(claim_theirs(120), "none");
    EXPECT_EQ(claim_theirs(120.5), "parked");
    EXPECT_FALSE(database_.run(kept_.front().ack())) << "the other program has it by now";
}

TEST_F(TransportInteropInTurns, AWaiterIsWokenByTheOtherProgramsPublish)
{
    auto waiting = database_.start(transport_.claim());
    database_.settle();
    theirs_.publish("g", "m");
    database_.advance(1ms);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "m");
}

} // namespace
