#include "support/child_process.hpp"
#include "support/other_process.hpp"
#include "support/plain_connection.hpp"
#include "support/run_coroutine.hpp"
#include "support/temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::child_process;
using support::other_process;
using support::plain_connection;
using support::run_coroutine;
using ::testing::ElementsAre;

/// Two programs that want one lock: this one on the machine's clock, and another.
class LockBetweenProcesses : public ::testing::Test {
protected:
    [[nodiscard]] std::unique_ptr<child_process> start_holder() const
    {
        return std::make_unique<child_process>(SKEIN_LOCK_PROCESS,
                                               std::vector<std::string>{"hold", path_.string()});
    }

    /// The fence of a holder that says that it holds the lock.
    static std::int64_t fence_of(child_process& holder)
    {
        const std::string line = holder.read_line().value_or("");
        EXPECT_EQ(line.substr(0, 5), "held ");
        return std::stoll(line.substr(5));
    }

    lock_guard acquire() { return run_coroutine(context_, lock_.acquire()); }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_.path() / "test.db";
    asio::io_context context_;
    database db_{path_, {.durability = durability::off}};
    named_lock lock_ = db_.lock("l");
};

// As a program that knows the format takes, tries and releases a lock.
constexpr const char* take =
    "DELETE FROM _honker_locks WHERE name = 'l' AND expires_at <= unixepoch();"
    "INSERT OR IGNORE INTO _honker_locks (name, owner, expires_at)"
    " VALUES ('l', 'sql', unixepoch() + 60)";
constexpr const char* whose = "SELECT owner = 'sql' FROM _honker_locks WHERE name = 'l'";
constexpr const char* release = "DELETE FROM _honker_locks WHERE name = 'l' AND owner = 'sql'";

TEST_F(LockBetweenProcesses, ComesFromAProgramThatSpeaksSql)
{
    acquire(); // makes the tables
    other_process other(path_);
    run_coroutine(context_, db_.close());
    other.sql(take);
    EXPECT_THAT(other.sql(whose), ElementsAre("1"));
    const database db(path_);
    support::operation<lock_guard> wait(context_, db.lock("l").acquire());
    EXPECT_FALSE(run_coroutine(context_, db.lock("l").try_acquire()));
    EXPECT_FALSE(wait.is_done());
    other.sql(release);
    support::run_until(context_, [&] { return wait.is_done(); });
    EXPECT_TRUE(wait.result().is_held());
}

TEST_F(LockBetweenProcesses, GoesToAProgramThatSpeaksSql)
{
    lock_guard guard = acquire();
    other_process other(path_);
    other.sql(take);
    EXPECT_THAT(other.sql(whose), ElementsAre("0"));
    EXPECT_TRUE(run_coroutine(context_, guard.release()));
    other.sql(take);
    EXPECT_THAT(other.sql(whose), ElementsAre("1"));
    EXPECT_FALSE(run_coroutine(context_, lock_.try_acquire()));
}

TEST_F(LockBetweenProcesses, IsTakenOverFromAProcessThatWasKilled)
{
    const auto holder = start_holder();
    const std::int64_t before = fence_of(*holder);
    holder->kill();
    const lock_guard guard = acquire();
    EXPECT_GT(guard.fence().value(), before);
}

TEST_F(LockBetweenProcesses, IsLostByAProcessThatWasStopped)
{
    const auto holder = start_holder();
    const std::int64_t before = fence_of(*holder);
    ::kill(holder->id(), SIGSTOP);
    const lock_guard guard = acquire();
    ::kill(holder->id(), SIGCONT);
    EXPECT_EQ(holder->read_line(), "lost");
    EXPECT_GT(guard.fence().value(), before);
    EXPECT_TRUE(guard.is_held());
}

TEST_F(LockBetweenProcesses, IsHeldByOneAtATime)
{
    constexpr int processes = 4;
    constexpr int turns = 25;
    const plain_connection file(path_);
    file.sql("CREATE TABLE gate (inside INTEGER NOT NULL); INSERT INTO gate VALUES (0)");
    std::vector<std::unique_ptr<child_process>> all;
    for (int i = 0; i < processes; ++i) {
        all.push_back(std::make_unique<child_process>(
            SKEIN_LOCK_PROCESS,
            std::vector<std::string>{"take-turns", path_.string(), std::to_string(turns)}));
    }
    for (const auto& each : all) {
        std::int64_t last = 0;
        for (int i = 0; i < turns; ++i) {
            const std::string line = each->read_line().value_or("nothing");
            ASSERT_EQ(line.substr(0, 6), "alone ");
            const std::int64_t fence = std::stoll(line.substr(6));
            EXPECT_GT(fence, last);
            last = fence;
        }
    }
    EXPECT_EQ(file.value("SELECT count(*) FROM _honker_locks"), "0");
}

} // namespace
