#include "runtime/running_queue.hpp"
#include "support/other_process.hpp"

#include <unistd.h>

#include <filesystem>
#include <future>
#include <utility>

namespace {

using namespace std::chrono_literals;
using skein::support::operation;
using skein::support::other_process;
using skein::support::statement_counter;

/// The inotify instances of this process.
std::vector<int> instances()
{
    std::vector<int> found;
    std::error_code gone; // the listing's own descriptor
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        if (std::filesystem::read_symlink(each.path(), gone) == "anon_inode:inotify") {
            found.push_back(std::stoi(each.path().filename()));
        }
    }
    return found;
}

/// The clock stands still unless a test moves it, so only a hint can wake anybody.
class HybridWatch : public skein::support::running_queue {
protected:
    HybridWatch() : running_queue({.watch = skein::watch::hybrid}) {}

    static std::string insert(const std::string& group)
    {
        return "INSERT INTO harel_transport_groups (group_id) VALUES ('" + group +
               "'); INSERT INTO harel_transport_messages (group_id, event) VALUES ('" + group +
               "', '" + group + "')";
    }

    std::string commit(const std::string& group)
    {
        return "BEGIN IMMEDIATE; " + insert(group) + "; COMMIT";
    }

    operation<skein::message> wait()
    {
        operation<skein::message> waiting = start_claim();
        db_.settle();
        EXPECT_FALSE(waiting.is_done());
        return waiting;
    }

    /// Begins a transaction over there, of which a part is in the log before it is committed.
    void begin_large(const std::string& group)
    {
        process_.sql("PRAGMA cache_size = 1; PRAGMA cache_spill = 1");
        process_.sql("BEGIN IMMEDIATE; " + insert(group));
        process_.sql("WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c LIMIT 100)"
                     " INSERT INTO t SELECT v || hex(zeroblob(2000)) FROM c");
    }

    /// Commits something of its own, and does `work` when that has just been committed.
    void commit_beside(const std::function<void()>& work)
    {
        bool is_done = false;
        statement_counter statements(handle_);
        statements.when_finished("COMMIT", [&] {
            if (!std::exchange(is_done, true)) {
                work();
            }
        });
        const auto write = [](skein::transaction& tx) { tx.database().exec("DELETE FROM t"); };
        db_.run(db_.database().transaction(write));
    }

    /// Reads the hints before the database can.
    static void steal_hints()
    {
        std::array<char, 4096> stolen{};
        ASSERT_EQ(instances().size(), 1u);
        EXPECT_GT(read(instances().front(), stolen.data(), stolen.size()), 0);
    }

    std::size_t looks_while(const std::function<void()>& work)
    {
        const statement_counter statements(handle_);
        work();
        return statements.count("data_version");
    }

    other_process process_{db_.path()};
};

TEST_F(HybridWatch, WakesAWaiterWithoutTheTimer)
{
    for (const char* group : {"a", "b", "c"}) {
        auto waiting = wait();
        process_.sql(commit(group));
        db_.settle();
        skein::message woken = waiting.result();
        EXPECT_EQ(woken.payload(), group);
        EXPECT_TRUE(db_.run(woken.ack()));
    }
}

TEST_F(HybridWatch, SeesAConnectionOfItsOwnProcessToo)
{
    auto waiting = wait();
    other_.sql(commit("a"));
    db_.settle();
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, WakesAWaiterWhoseTimerHasGoneOff)
{
    auto waiting = wait();
    db_.advance(10min);
    process_.sql(commit("a"));
    db_.settle();
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, ChasesACommitThatIsOnItsWay)
{
    auto waiting = wait();
    begin_large("a");
    db_.settle();
    EXPECT_FALSE(waiting.is_done());
    db_.advance(100us);
    EXPECT_GE(looks_while([&] {
                  for (int each = 0; each < 10; ++each) {
                      db_.advance(100us);
                  }
              }),
              10u);
    process_.sql("COMMIT");
    db_.advance(100us);
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, GivesUpAChaseThatComesToNothing)
{
    auto waiting = wait();
    begin_large("a");
    db_.settle();
    for (int each = 0; each < 1100; ++each) {
        db_.advance(100us);
    }
    EXPECT_LE(looks_while([&] {
                  for (int each = 0; each < 1000; ++each) {
                      db_.advance(100us);
                  }
              }),
              2u);
    process_.sql("ROLLBACK");
}

TEST_F(HybridWatch, FindsOnTheTimerWhatNoHintHasTold)
{
    auto waiting = wait();
    process_.sql(commit("a"));
    steal_hints();
    db_.settle();
    EXPECT_FALSE(waiting.is_done()) << "the hint was not lost";
    db_.advance(100ms);
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, FindsWhatCameTogetherWithACommitOfItsOwn)
{
    auto waiting = wait();
    commit_beside([&] { process_.sql(commit("a")); });
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, SoonFindsWhatWasBegunTogetherWithACommitOfItsOwn)
{
    auto waiting = wait();
    commit_beside([&] { begin_large("a"); });
    EXPECT_FALSE(waiting.is_done());
    process_.sql("COMMIT");
    steal_hints();
    db_.advance(100us);
    db_.advance(200us);
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, DoesNotLookForeverAtItsOwnCommits)
{
    auto waiting = start_claim({.min_priority = 4});
    db_.settle();
    publish("m");
    EXPECT_LE(looks_while([&] {
                  for (int each = 0; each < 3000; ++each) {
                      db_.advance(100us);
                  }
              }),
              20u);
    EXPECT_FALSE(waiting.is_done());
}

TEST_F(HybridWatch, LooksSeldomWhileNothingHappens)
{
    auto waiting = wait();
    EXPECT_LE(looks_while([&] {
                  for (int each = 0; each < 1000; ++each) {
                      db_.advance(1ms);
                  }
              }),
              11u);
}

TEST_F(HybridWatch, GivesWayToAWriterThatNeverRests)
{
    auto waiting = wait();
    const auto burst = [&](int commits) {
        for (int each = 0; each < commits; ++each) {
            process_.sql("INSERT INTO t VALUES (NULL)");
            db_.settle();
        }
    };
    burst(30);
    EXPECT_EQ(looks_while([&] { burst(100); }), 0u) << "the clock stands, so the timer cannot ask";
    process_.sql(commit("a"));
    db_.settle();
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1ms);
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, HeedsHintsAgainAfterABurst)
{
    auto waiting = wait();
    for (int each = 0; each < 30; ++each) {
        process_.sql("INSERT INTO t VALUES (NULL)");
        db_.settle();
    }
    for (int each = 0; each < 30; ++each) {
        db_.advance(1ms);
    }
    process_.sql(commit("a"));
    db_.settle();
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, CostsNothingWhileNobodyWaits)
{
    EXPECT_EQ(looks_while([&] {
                  process_.sql(commit("a"));
                  db_.settle();
                  publish("m");
                  db_.advance(1s);
              }),
              0u);
    EXPECT_EQ(db_.clock().alarms(), 0u);
    db_.context().restart();
    EXPECT_EQ(db_.context().run(), 0u) << "nothing keeps the context at work";
}

TEST_F(HybridWatch, GoesOnAfterOthersHaveClosedTheFile)
{
    auto waiting = wait();
    {
        other_process second(db_.path());
        second.sql("SELECT * FROM t; PRAGMA wal_checkpoint(TRUNCATE)");
    }
    db_.settle();
    db_.advance(1s);
    process_.sql(commit("a"));
    db_.settle();
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, FollowsTheLogThatTheNextOpeningMakes)
{
    process_.process().close_input();
    process_.process().wait();
    other_.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    db_.reopen();
    queue_ = db_.database().transport();
    auto waiting = wait();
    other_process(db_.path()).sql(commit("a"));
    db_.settle();
    EXPECT_EQ(waiting.result().payload(), "a");
}

TEST_F(HybridWatch, EndsWhenTheLogIsDeleted)
{
    auto waiting = wait();
    std::filesystem::remove(db_.path().string() + "-wal");
    db_.advance(1s);
    EXPECT_EQ(waiting.error(), skein::errc::file_replaced);
}

TEST_F(HybridWatch, LeavesNoInstanceBehind)
{
    EXPECT_EQ(instances().size(), 1u);
    auto waiting = wait();
    process_.sql(commit("a")); // a hint that nobody has heeded yet
    db_.run(db_.database().close());
    EXPECT_TRUE(waiting.is_done());
    EXPECT_EQ(instances().size(), 0u);
}

TEST_F(HybridWatch, MayBeUnderWayWhenTheContextEnds)
{
    std::optional<skein::database> database;
    {
        asio::io_context context;
        database.emplace(context.get_executor(), db_.path(),
                         skein::database_options{.watch = skein::watch::hybrid});
        operation<skein::message> waiting(context, database->transport().claim());
        skein::support::settle(context);
        process_.sql("INSERT INTO t VALUES (NULL)");
        EXPECT_EQ(instances().size(), 2u);
    }
    EXPECT_EQ(instances().size(), 1u);
}

TEST_F(HybridWatch, WorksOnAThreadOfTheDatabasesOwn)
{
    const skein::database database(db_.path(),
                                   {.watch = skein::watch::hybrid, .clock = db_.clock_to_share()});
    asio::thread_pool callers(1);
    auto waiting = asio::co_spawn(callers, database.transport().claim(), asio::use_future);
    process_.sql(commit("a"));
    // It may have met the commit on its way, and look again a little later.
    while (waiting.wait_for(1ms) != std::future_status::ready) {
        db_.clock().advance(100us);
    }
    EXPECT_EQ(waiting.get().payload(), "a");
    asio::co_spawn(callers, database.close(), asio::use_future).get();
}

class HybridWatchElsewhere : public testing::Test {
protected:
    /// The warnings of an opening.
    std::vector<std::string> warnings(const std::filesystem::path& path,
                                      skein::journal_mode journal = skein::journal_mode::wal)
    {
        std::vector<std::string> lines;
        skein::database_options options{.durability = skein::durability::off,
                                        .journal = journal,
                                        .watch = skein::watch::hybrid,
                                        .warn_of_wal_reset_bug = false};
        options.log = [&](skein::log_level level, std::string_view text) {
            if (level == skein::log_level::warning) {
                lines.emplace_back(text);
            }
        };
        skein::support::manual_database db(path, options);
        const skein::transport queue = db.database().transport();
        auto waiting = db.start(queue.claim());
        db.settle();
        skein::support::manual_database writer(
            path, {.durability = skein::durability::off, .journal = journal});
        if (path != ":memory:") {
            writer.run(writer.database().transport().publish("g", "m"));
            db.advance(1ms);
            EXPECT_TRUE(waiting.is_done()) << "the timer is not used";
        }
        return lines;
    }

    skein::support::temporary_directory directory_;
};

TEST_F(HybridWatchElsewhere, UsesTheTimerForARollbackJournal)
{
    const auto lines = warnings(directory_ / "test.db", skein::journal_mode::truncate);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines.front().find("no write-ahead log"), std::string::npos) << lines.front();
}

TEST_F(HybridWatchElsewhere, UsesTheTimerInMemory)
{
    EXPECT_EQ(warnings(":memory:").size(), 1u);
}

} // namespace
