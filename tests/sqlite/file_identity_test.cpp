#include "sqlite/file_identity.hpp"

#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace {

using skein::sqlite::connection;
using skein::sqlite::file_identity;
using skein::support::plain_connection;

class FileIdentity : public testing::Test {
protected:
    FileIdentity()
    {
        file_.sql("CREATE TABLE t (v)");
        plain_connection(directory_ / "other.db").sql("CREATE TABLE t (v)");
    }

    skein::support::temporary_directory directory_;
    const std::filesystem::path path_ = directory_ / "test.db";
    plain_connection file_{path_};
};

TEST_F(FileIdentity, StaysWhileTheFileIsWritten)
{
    const file_identity identity(path_);
    file_.sql("INSERT INTO t VALUES (1); VACUUM");
    EXPECT_FALSE(identity.is_replaced());
    EXPECT_EQ(identity.path(), path_);
}

TEST_F(FileIdentity, IsLostWhenAnotherFileTakesTheName)
{
    const file_identity identity(path_);
    std::filesystem::rename(directory_ / "other.db", path_);
    EXPECT_TRUE(identity.is_replaced());
}

TEST_F(FileIdentity, IsLostWhileTheNameLeadsNowhere)
{
    const file_identity identity(path_);
    std::filesystem::rename(path_, directory_ / "away.db");
    EXPECT_TRUE(identity.is_replaced());
    std::filesystem::rename(directory_ / "away.db", path_);
    EXPECT_FALSE(identity.is_replaced());
}

TEST_F(FileIdentity, OfAFileThatWasNeverThereIsNotLost)
{
    const file_identity identity(directory_ / "missing.db");
    EXPECT_FALSE(identity.is_replaced());
}

TEST_F(FileIdentity, UsesSqlitesNames)
{
    std::filesystem::create_symlink(path_, directory_ / "link.db");
    const plain_connection link(directory_ / "link.db");
    EXPECT_EQ(database_file(connection(link.handle())), path_);
    EXPECT_EQ(write_ahead_log_file(connection(link.handle())), path_.string() + "-wal");
    const plain_connection memory(":memory:");
    EXPECT_EQ(database_file(connection(memory.handle())), "");
    EXPECT_EQ(write_ahead_log_file(connection(memory.handle())), "");
}

TEST_F(FileIdentity, IsComparedWithTheFileThatSqliteHasOpened)
{
    EXPECT_FALSE(has_moved(connection(file_.handle())));
    EXPECT_FALSE(has_moved(connection(plain_connection(":memory:").handle())));
    std::filesystem::rename(directory_ / "other.db", path_);
    EXPECT_TRUE(has_moved(connection(file_.handle())));
}

} // namespace
