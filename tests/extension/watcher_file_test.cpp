#include "extension/watcher_fixture.hpp"

#include <algorithm>
#include <fstream>
#include <ios>

namespace {

using skein::support::plain_connection;
using skein::support::watcher_fixture;

class WatchedFile : public watcher_fixture, public ::testing::WithParamInterface<const char*> {
protected:
    std::string open(const std::filesystem::path& path)
    {
        return watcher_fixture::open(path, GetParam());
    }

    /// A database of the directory, by another name.
    std::filesystem::path make_other() const
    {
        plain_connection(directory_ / "other.db").sql("CREATE TABLE t (v)");
        return directory_ / "other.db";
    }
};

TEST_P(WatchedFile, IsWaitedForWhenItIsNotThereYet)
{
    const std::filesystem::path later = directory_ / "later.db";
    const std::string id = open(later);
    settle(later);
    EXPECT_EQ(look(id), "0");
    const plain_connection creator(later);
    creator.sql("CREATE TABLE t (v)");
    EXPECT_EQ(wait(id), "1");
    settle(later);
    look(id); // it may have come before its first commit
    creator.sql("INSERT INTO t VALUES (1)");
    EXPECT_EQ(wait(id), "1");
}

TEST_P(WatchedFile, EndsItsWatchersWhenItIsReplaced)
{
    const std::string id = open(path_);
    std::filesystem::rename(make_other(), path_);
    EXPECT_EQ(wait(id), "-1");
    EXPECT_EQ(wait(id), "-1");
    EXPECT_EQ(close(id), "1");
}

TEST_P(WatchedFile, EndsItsWatchersWhenItIsDeleted)
{
    const std::string id = open(path_);
    std::filesystem::remove(path_);
    EXPECT_EQ(wait(id), "-1");
    EXPECT_EQ(wait(id), "-1");
}

TEST_P(WatchedFile, EndsTheWatchersOfAFileThatCameLater)
{
    const std::filesystem::path later = directory_ / "later.db";
    const std::string id = open(later);
    plain_connection(later).sql("CREATE TABLE t (v)");
    EXPECT_EQ(wait(id), "1");
    std::filesystem::rename(make_other(), later);
    std::string answer = wait(id);
    if (answer == "1") { // of the commit
        answer = wait(id);
    }
    EXPECT_EQ(answer, "-1");
}

TEST_P(WatchedFile, IsToldOfToTheEnd)
{
    const std::string pending = open(path_);
    commit();
    const std::string other = open(path_);
    std::filesystem::remove(path_);
    EXPECT_EQ(wait(other), "-1");
    EXPECT_EQ(look(pending), "1");
    EXPECT_EQ(look(pending), "-1");
}

TEST_P(WatchedFile, IsMissedInOneLine)
{
    const std::string one = open(path_);
    const std::string two = open(path_);
    ::testing::internal::CaptureStderr();
    std::filesystem::remove(path_);
    EXPECT_EQ(wait(one), "-1");
    EXPECT_EQ(wait(two), "-1");
    open(path_); // some time later
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, ::testing::HasSubstr(path_.string()));
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1);
}

TEST_P(WatchedFile, HasWatchersAgainAfterItWasReplaced)
{
    const std::string before = open(path_);
    std::filesystem::rename(make_other(), path_);
    const std::string after = open(path_);
    EXPECT_EQ(look(before), "-1");
    EXPECT_EQ(look(after), "0");
    plain_connection(path_).sql("INSERT INTO t VALUES (1)");
    EXPECT_EQ(wait(after), "1");
}

TEST_P(WatchedFile, IsTheOneThatALinkLedTo)
{
    const std::filesystem::path link = directory_ / "link.db";
    std::filesystem::create_symlink(path_, link);
    const std::string id = open(link);
    commit();
    EXPECT_EQ(wait(id), "1");
    std::filesystem::remove(link);
    std::filesystem::create_symlink(make_other(), link);
    EXPECT_EQ(wait(id), "-1");
}

TEST_P(WatchedFile, IsOpenedAgainAfterAFailure)
{
    writer_.sql("PRAGMA journal_mode = delete");
    const std::string id = open(path_);
    char header[100];
    std::fstream bytes(path_, std::ios::in | std::ios::out | std::ios::binary);
    bytes.read(header, sizeof header);
    bytes.seekp(0) << std::string(sizeof header, 'x') << std::flush;
    EXPECT_EQ(wait(id), "1");
    EXPECT_EQ(look(id), "0");
    EXPECT_EQ(refusal("SELECT honker_update_watcher_open('" + path_.string() + "', NULL)"),
              "file is not a database");
    bytes.seekp(0).write(header, sizeof header).flush();
    EXPECT_EQ(wait(id), "1");
    commit();
    EXPECT_EQ(wait(id), "1");
}

INSTANTIATE_TEST_SUITE_P(Watching, WatchedFile, ::testing::Values("'polling'", "'kernel'"));

} // namespace
