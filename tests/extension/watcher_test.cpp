#include "extension/watcher_fixture.hpp"

#include "support/other_process.hpp"

#include <tuple>

namespace {

using skein::support::other_process;
using skein::support::watcher_fixture;

/// With each journal, and each way to watch.
class Watcher : public watcher_fixture,
                public ::testing::WithParamInterface<std::tuple<const char*, const char*>> {
protected:
    Watcher()
    {
        writer_.sql("PRAGMA journal_mode = " + std::string(std::get<0>(GetParam())));
        id_ = open(path_, std::get<1>(GetParam()));
    }

    std::string id_;
};

TEST_P(Watcher, IsWokenByACommitOfAnotherConnection)
{
    EXPECT_EQ(look(id_), "0");
    commit();
    EXPECT_EQ(wait(id_), "1");
    EXPECT_EQ(look(id_), "0");
    commit();
    EXPECT_EQ(wait(id_), "1");
}

TEST_P(Watcher, IsWokenByACommitOfTheConnectionThatOpenedIt)
{
    sql("INSERT INTO t VALUES (1)");
    EXPECT_EQ(wait(id_), "1");
}

TEST_P(Watcher, IsWokenByACommitOfAnotherProcess)
{
    other_process other(path_);
    other.sql("PRAGMA busy_timeout = 60000");
    other.sql("INSERT INTO t VALUES (1)");
    EXPECT_EQ(wait(id_), "1");
}

TEST_P(Watcher, IsToldOfABurstOnce)
{
    for (int each = 0; each < 20; ++each) {
        commit();
    }
    settle(path_);
    EXPECT_EQ(look(id_), "1");
    EXPECT_EQ(look(id_), "0");
}

TEST_P(Watcher, IsNotWokenByWhatIsRolledBackOrEmpty)
{
    writer_.sql("BEGIN IMMEDIATE; INSERT INTO t VALUES (1); ROLLBACK");
    writer_.sql("BEGIN IMMEDIATE; COMMIT");
    writer_.sql("SELECT * FROM t");
    settle(path_);
    EXPECT_EQ(look(id_), "0");
}

TEST_P(Watcher, SeesNoCommitFromBeforeItWasOpened)
{
    commit();
    const std::string later = open(path_);
    EXPECT_EQ(look(later), "0");
    EXPECT_EQ(look(id_), "1");
}

TEST_P(Watcher, GoesOnAfterALockThatKeepsItOut)
{
    writer_.sql("BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)");
    const std::string during = open(path_);
    EXPECT_EQ(look(id_), "0");
    EXPECT_EQ(look(during), "0");
    writer_.sql("COMMIT");
    EXPECT_EQ(wait(id_), "1");
    EXPECT_EQ(wait(during), "1");
}

TEST_P(Watcher, IsWokenWhenTheLogIsMovedIntoTheFile)
{
    commit();
    EXPECT_EQ(wait(id_), "1");
    writer_.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    commit();
    EXPECT_EQ(wait(id_), "1");
}

INSTANTIATE_TEST_SUITE_P(Watching, Watcher,
                         ::testing::Combine(::testing::Values("wal", "delete"),
                                            ::testing::Values("'polling'", "'kernel'")));

} // namespace
