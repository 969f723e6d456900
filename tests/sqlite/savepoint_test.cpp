#include "sqlite/savepoint.hpp"

#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

namespace {

using skein::sqlite::connection;
using skein::sqlite::savepoint;

class Savepoint : public testing::Test {
protected:
    Savepoint() { file_.sql("CREATE TABLE t (v); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)"); }

    std::string rows() const { return file_.value("SELECT group_concat(v) FROM t"); }

    skein::support::temporary_directory directory_;
    skein::support::plain_connection file_{directory_ / "test.db"};
    connection connection_{file_.handle()};
    savepoint savepoint_{connection_, "here"};
};

TEST_F(Savepoint, KeepsWhatRanInsideItWhenItIsReleased)
{
    savepoint_.begin();
    file_.sql("INSERT INTO t VALUES (2)");
    savepoint_.release();
    EXPECT_TRUE(connection_.in_transaction());
    file_.sql("COMMIT");
    EXPECT_EQ(rows(), "1,2");
}

TEST_F(Savepoint, UndoesWhatRanInsideItAndNothingElse)
{
    savepoint_.begin();
    file_.sql("INSERT INTO t VALUES (2)");
    savepoint_.undo();
    EXPECT_TRUE(connection_.in_transaction());
    file_.sql("INSERT INTO t VALUES (3); COMMIT");
    EXPECT_EQ(rows(), "1,3");
}

TEST_F(Savepoint, CanBeUsedAgainAndAgain)
{
    for (int each = 2; each < 6; ++each) {
        savepoint_.begin();
        file_.sql("INSERT INTO t VALUES (" + std::to_string(each) + ")");
        if (each % 2 == 0) {
            savepoint_.undo();
        } else {
            savepoint_.release();
        }
    }
    file_.sql("COMMIT");
    EXPECT_EQ(rows(), "1,3,5");
}

TEST_F(Savepoint, EndsWhenItIsUndone)
{
    savepoint_.begin();
    savepoint_.undo();
    EXPECT_THROW(savepoint_.release(), skein::sqlite::error);
}

} // namespace
