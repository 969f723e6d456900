#include "sqlite/data_version.hpp"

#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

namespace {

class DataVersion : public testing::TestWithParam<const char*> {
protected:
    DataVersion()
    {
        file_.sql(std::string("PRAGMA journal_mode = ") + GetParam() + "; CREATE TABLE t (v)");
    }

    skein::support::temporary_directory directory_;
    skein::support::plain_connection file_{directory_ / "test.db"};
    skein::support::plain_connection other_{directory_ / "test.db"};
    skein::sqlite::data_version version_{skein::sqlite::connection(file_.handle())};
};

TEST_P(DataVersion, StandsStillWhileNothingIsCommitted)
{
    const auto before = version_.read();
    other_.sql("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)");
    EXPECT_EQ(version_.read(), before);
    other_.sql("ROLLBACK");
    EXPECT_EQ(version_.read(), before);
}

TEST_P(DataVersion, ChangesWhenAnotherConnectionHasCommitted)
{
    const auto before = version_.read();
    other_.sql("INSERT INTO t VALUES (1)");
    const auto after = version_.read();
    EXPECT_NE(after, before);
    EXPECT_EQ(version_.read(), after);
}

TEST_P(DataVersion, DoesNotChangeWithTheConnectionsOwnCommits)
{
    const auto before = version_.read();
    file_.sql("INSERT INTO t VALUES (1)");
    EXPECT_EQ(version_.read(), before);
}

TEST_P(DataVersion, ShowsAnotherConnectionsCommitAlsoAfterOneOfItsOwn)
{
    const auto before = version_.read();
    other_.sql("INSERT INTO t VALUES (1)");
    file_.sql("INSERT INTO t VALUES (2)");
    EXPECT_NE(version_.read(), before);
}

TEST_P(DataVersion, LeavesNoTransactionBehind)
{
    EXPECT_GT(version_.read(), 0);
    EXPECT_FALSE(skein::sqlite::connection(file_.handle()).in_transaction());
    other_.sql("BEGIN EXCLUSIVE; COMMIT");
}

INSTANTIATE_TEST_SUITE_P(InEveryJournalMode, DataVersion,
                         testing::Values("wal", "delete", "truncate"),
                         [](const auto& mode) { return mode.param; });

using DataVersionInWal = DataVersion;

TEST_P(DataVersionInWal, IsBlindInsideATransaction)
{
    const auto before = version_.read();
    file_.sql("BEGIN; SELECT * FROM t");
    other_.sql("INSERT INTO t VALUES (1)");
    EXPECT_EQ(version_.read(), before);
    file_.sql("COMMIT");
    EXPECT_NE(version_.read(), before);
}

INSTANTIATE_TEST_SUITE_P(TheDefault, DataVersionInWal, testing::Values("wal"),
                         [](const auto& mode) { return mode.param; });

} // namespace
