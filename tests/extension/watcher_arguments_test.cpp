#include "extension/watcher_fixture.hpp"

namespace {

using skein::support::extension_connection;
using skein::support::watcher_fixture;
using ::testing::HasSubstr;

class WatcherArguments : public watcher_fixture {
protected:
    std::string refusal_of(const std::string& arguments) const
    {
        return refusal("SELECT honker_update_watcher_open(" + arguments + ")");
    }

    std::string refusal_of_more(const std::string& more) const
    {
        return refusal_of("'" + path_.string() + "', " + more);
    }
};

TEST_F(WatcherArguments, NameTheWaysToWatch)
{
    for (const char* const name :
         {"NULL", "''", "'polling'", "'poll'", "'kernel'", "'kernel-watcher'"}) {
        const std::string id = open(path_, name);
        commit();
        EXPECT_EQ(wait(id), "1") << name;
        EXPECT_EQ(close(id), "1");
    }
}

TEST_F(WatcherArguments, MayNotNameOthers)
{
    EXPECT_THAT(refusal_of_more("'shm'"), HasSubstr("'shm' is not offered"));
    EXPECT_THAT(refusal_of_more("'shm-fast-path'"), HasSubstr("'shm' is not offered"));
    for (const std::string name : {"Polling", " kernel", "inotify"}) {
        EXPECT_THAT(refusal_of_more("'" + name + "'"),
                    HasSubstr("unknown watcher backend \"" + name +
                              "\"; valid: None, 'polling', 'kernel', 'shm'"));
    }
}

TEST_F(WatcherArguments, HaveAPositiveInterval)
{
    for (const char* const interval : {"0", "-1", "-9223372036854775808"}) {
        EXPECT_THAT(refusal_of_more("NULL, " + std::string(interval)),
                    HasSubstr("watcher poll interval must be positive"));
    }
    for (const char* const interval : {"NULL", "1", "20", "3.0"}) {
        const std::string id = open(path_, "NULL, " + std::string(interval));
        commit();
        EXPECT_EQ(wait(id), "1") << interval;
        EXPECT_EQ(close(id), "1");
    }
}

TEST_F(WatcherArguments, MayAskForTheLongestInterval)
{
    const std::string seldom = open(path_, "NULL, 9223372036854775807");
    const std::string often = open(path_);
    commit();
    // The shortest interval is the one of all.
    EXPECT_EQ(wait(often), "1");
    EXPECT_EQ(wait(seldom), "1");
}

TEST_F(WatcherArguments, NeedAFile)
{
    EXPECT_THAT(refusal_of("'', NULL"), HasSubstr("needs the path of a database file"));
    EXPECT_THAT(refusal_of("':memory:', NULL"), HasSubstr("needs the path of a database file"));
    EXPECT_THAT(refusal_of("'file:" + path_.string() + "', NULL"), HasSubstr("not a URI"));
    EXPECT_THAT(refusal_of("char(97, 0, 98), NULL"), HasSubstr("NUL"));
    EXPECT_THAT(refusal_of("'" + directory_.path().string() + "', NULL"),
                HasSubstr("unable to open database file"));
    EXPECT_THAT(refusal_of("'" + (directory_ / "none/test.db").string() + "', 'kernel'"),
                HasSubstr("No such file or directory"));
}

TEST_F(WatcherArguments, HaveTheRightTypes)
{
    EXPECT_THAT(refusal_of("NULL, NULL"),
                HasSubstr("Invalid function parameter type Null at index 0"));
    EXPECT_THAT(refusal_of_more("1"),
                HasSubstr("Invalid function parameter type Integer at index 1"));
    EXPECT_THAT(refusal_of_more("NULL, 'x'"),
                HasSubstr("Invalid function parameter type Text at index 2"));
    EXPECT_THAT(refusal("SELECT honker_update_watcher_wait(NULL, 0)"),
                HasSubstr("Null at index 0"));
    EXPECT_THAT(refusal("SELECT honker_update_watcher_wait(1, NULL)"),
                HasSubstr("Null at index 1"));
    EXPECT_THAT(refusal("SELECT honker_update_watcher_close('1')"), HasSubstr("Text at index 0"));
}

TEST_F(WatcherArguments, NumberWatchersForTheWholeProcess)
{
    const std::string here = open(path_);
    EXPECT_GE(std::stoi(here), 1);
    const extension_connection other(directory_ / "other.db");
    commit();
    EXPECT_EQ(other.value("SELECT honker_update_watcher_wait(" + here + ", 60000)"), "1");
    EXPECT_EQ(std::stoi(open(path_)), std::stoi(here) + 1);
}

TEST_F(WatcherArguments, NeedNotNameAWatcher)
{
    EXPECT_EQ(look("0"), "-1");
    EXPECT_EQ(look("-1"), "-1");
    EXPECT_EQ(close("0"), "1");
    const std::string id = open(path_);
    EXPECT_EQ(wait_for(id, -1), "0");
    EXPECT_EQ(close(id), "1");
    EXPECT_EQ(look(id), "-1");
    EXPECT_EQ(close(id), "1");
}

} // namespace
