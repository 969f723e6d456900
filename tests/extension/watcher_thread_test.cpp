#include "extension/watcher_fixture.hpp"

#include <fstream>
#include <thread>
#include <vector>

namespace {

using skein::support::extension_connection;
using skein::support::watcher_fixture;

class WatcherThread : public watcher_fixture {
protected:
    static int count_threads()
    {
        int count = 0;
        for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
            std::string name;
            std::getline(std::ifstream(each.path() / "comm") >> std::ws, name);
            count += name == "skein-watch" ? 1 : 0;
        }
        return count;
    }

    /// One that has ended is listed for a moment more. Does not return before that.
    static void wait_for_the_last_to_go()
    {
        while (count_threads() > 0) {
            std::this_thread::yield();
        }
    }
};

TEST_F(WatcherThread, ServesAllWatchersOfAFileAndEndsWithTheLast)
{
    std::filesystem::create_symlink(path_, directory_ / "link.db");
    const std::string one = open(path_);
    const std::string two = open(directory_ / "link.db", "'kernel'");
    EXPECT_EQ(count_threads(), 1);
    close(one);
    EXPECT_EQ(count_threads(), 1);
    commit();
    EXPECT_EQ(wait(two), "1");
    close(two);
    wait_for_the_last_to_go();
}

TEST_F(WatcherThread, IsAnotherForAnotherFile)
{
    const std::string one = open(path_);
    const std::string two = open(directory_ / "later.db");
    EXPECT_EQ(count_threads(), 2);
    commit();
    EXPECT_EQ(wait(one), "1");
    EXPECT_EQ(look(two), "0");
    close(one);
    close(two);
    wait_for_the_last_to_go();
}

TEST_F(WatcherThread, IsNotThereForWhatIsRefused)
{
    EXPECT_NE(
        refusal("SELECT honker_update_watcher_open('" + directory_.path().string() + "', NULL)"),
        "");
    wait_for_the_last_to_go();
}

TEST_F(WatcherThread, EndsWithTheFile)
{
    const std::string id = open(path_);
    std::filesystem::remove(path_);
    EXPECT_EQ(wait(id), "-1");
    wait_for_the_last_to_go();
}

TEST_F(WatcherThread, MayBeOpenedAndClosedByManyAtOnce)
{
    std::vector<std::thread> programs;
    for (int each = 0; each < 4; ++each) {
        programs.emplace_back([this] {
            const extension_connection mine(path_);
            const std::string opening =
                "SELECT honker_update_watcher_open('" + path_.string() + "', NULL)";
            for (int round = 0; round < 20; ++round) {
                const std::string id = mine.value(opening);
                mine.sql("INSERT INTO t VALUES (1)");
                EXPECT_EQ(mine.value("SELECT honker_update_watcher_wait(" + id + ", 60000)"), "1");
                mine.sql("SELECT honker_update_watcher_close(" + id + ")");
            }
        });
    }
    for (std::thread& each : programs) {
        each.join();
    }
    wait_for_the_last_to_go();
}

TEST_F(WatcherThread, LetsAWaitGoThatIsClosed)
{
    const std::string id = open(path_);
    std::string answer;
    std::thread waiting([&] {
        const extension_connection mine(directory_ / "other.db");
        answer = mine.value("SELECT honker_update_watcher_wait(" + id + ", 600000)");
    });
    EXPECT_EQ(close(id), "1");
    waiting.join();
    EXPECT_EQ(answer, "-1");
    wait_for_the_last_to_go();
}

TEST_F(WatcherThread, AnswersOneWaitAtATime)
{
    const std::string id = open(path_);
    std::string answer;
    std::thread waiting([&] {
        const extension_connection mine(directory_ / "other.db");
        do { // the looks below are waits, too
            answer = mine.value("SELECT honker_update_watcher_wait(" + id + ", 600000)");
        } while (answer == "-1");
    });
    while (look(id) != "-1") {
        std::this_thread::yield();
    }
    commit();
    waiting.join();
    EXPECT_EQ(answer, "1");
    EXPECT_EQ(look(id), "0");
}

} // namespace
