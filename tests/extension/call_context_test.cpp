#include "extension/contract_fixture.hpp"

#include <array>

namespace {

using skein::support::contract_fixture;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// One job of each sort that the refused functions change: 1 is leased with its last attempt, 2
/// with more, 3 has expired, 4 is due.
class CallContext : public contract_fixture {
protected:
    CallContext()
    {
        sql("PRAGMA journal_mode = wal; CREATE TABLE t (v)");
        enqueue("last", "0, 1, NULL");
        enqueue("more", "0, 3, NULL");
        enqueue("old", "0, 3, -1");
        enqueue("due");
        claim("last");
        claim("more");
        call("honker_scheduler_register('s', 'ticked', '@every 1s', '{}', 0, NULL)");
    }

    static std::string text(const std::string& function)
    {
        return "cannot open savepoint - SQL statements in progress; honker: " + function +
               " requires a separate SELECT after you finish all write/RETURNING cursors; do not"
               " call it from a trigger or write statement. An explicit surrounding transaction is"
               " supported";
    }
};

struct refused {
    const char* name;
    const char* call;
};

constexpr std::array refused_there{
    refused{"honker_claim_batch", "honker_claim_batch('due', 'w', 1, 60)"},
    refused{"honker_fail", "honker_fail(1, 'w', 'no')"},
    refused{"honker_fail", "honker_fail(1, 'w', 'no', 1)"},
    refused{"honker_sweep_expired", "honker_sweep_expired('old')"},
    refused{"honker_scheduler_tick", "honker_scheduler_tick(5000)"},
    refused{"honker_retry", "honker_retry(1, 'w', 0, 'no')"},
    refused{"honker_retry", "honker_retry(1, 'w', 0, 'no', 1)"},
};

TEST_F(CallContext, OfSomeMayNotBeAWriteStatement)
{
    const auto before = all_rows();
    for (const refused& each : refused_there) {
        const std::string call = each.call;
        for (const std::string& statement :
             {"INSERT INTO t SELECT " + call, "INSERT INTO t VALUES (1) RETURNING " + call,
              "CREATE TEMP TRIGGER tr AFTER INSERT ON t BEGIN SELECT " + call +
                  "; END; INSERT INTO t VALUES (1)"}) {
            EXPECT_EQ(refusal(statement), text(each.name)) << statement;
            EXPECT_EQ(sqlite3_extended_errcode(connection_.handle()), SQLITE_ERROR);
            EXPECT_FALSE(in_transaction());
            sql("DROP TRIGGER IF EXISTS tr");
        }
    }
    EXPECT_EQ(all_rows(), before);
    EXPECT_EQ(value("SELECT count(*) FROM t"), "0");
}

TEST_F(CallContext, OfSomeMayNotBeBesideAnUnfinishedCursor)
{
    const auto before = all_rows();
    for (const refused& each : refused_there) {
        sqlite3_stmt* cursor = nullptr;
        sqlite3_prepare_v2(connection_.handle(), "INSERT INTO t VALUES (1), (2) RETURNING v", -1,
                           &cursor, nullptr);
        ASSERT_EQ(sqlite3_step(cursor), SQLITE_ROW);
        EXPECT_EQ(refusal_of(each.call), text(each.name));
        EXPECT_EQ(sqlite3_step(cursor), SQLITE_ROW);
        EXPECT_EQ(sqlite3_step(cursor), SQLITE_DONE);
        EXPECT_EQ(sqlite3_finalize(cursor), SQLITE_OK);
    }
    EXPECT_EQ(all_rows(), before);
    EXPECT_EQ(value("SELECT count(*) FROM t"), "14");
    for (const refused& each : refused_there) {
        EXPECT_EQ(refusal_of(each.call), "");
    }
}

TEST_F(CallContext, MayBeAnyForARetryThatGivesBackOrIsStale)
{
    sql("INSERT INTO t SELECT honker_retry(2, 'w', 0, 'no')");
    sql("INSERT INTO t SELECT honker_retry(2, 'w', 0, 'no')");
    sql("INSERT INTO t SELECT honker_retry(1, 'w', 0, 'no', 7)");
    sql("INSERT INTO t SELECT honker_retry(99, 'w', 0, 'no')");
    EXPECT_THAT(sql("SELECT v FROM t"), ::testing::ElementsAre("1", "0", "0", "0"));
    EXPECT_EQ(value("SELECT state FROM _honker_live WHERE id = 2"), "pending");
}

TEST_F(CallContext, MayBeAnyForSingleStatements)
{
    sql("INSERT INTO t SELECT honker_ack(2, 'w')");
    sql("INSERT INTO t SELECT honker_heartbeat(1, 'w', 99)");
    sql("INSERT INTO t SELECT honker_cancel(4)");
    sql("INSERT INTO t SELECT honker_scheduler_pause('s')");
    sql("INSERT INTO t SELECT honker_scheduler_update('s', '@every 2s', NULL, NULL, NULL, 0)");
    sql("INSERT INTO t SELECT honker_scheduler_unregister('s')");
    sql("INSERT INTO t SELECT honker_bootstrap()"); // there is nothing to make
    EXPECT_THAT(sql("SELECT DISTINCT v FROM t"), ::testing::ElementsAre("1"));
}

TEST_F(CallContext, MayBeATransactionOfTheCallers)
{
    const auto before = all_rows();
    for (const char* const begin : {"BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT mine",
                                    "BEGIN; SAVEPOINT a; SAVEPOINT b; RELEASE a; SAVEPOINT c"}) {
        sql(begin);
        sql("INSERT INTO t VALUES (1)");
        for (const refused& each : refused_there) {
            EXPECT_EQ(refusal_of(each.call), "") << each.call;
        }
        EXPECT_NE(all_rows(), before);
        EXPECT_TRUE(in_transaction());
        sql("ROLLBACK");
        EXPECT_EQ(all_rows(), before);
    }
    sql("BEGIN");
    for (const refused& each : refused_there) {
        EXPECT_EQ(refusal_of(each.call), "");
    }
    sql("COMMIT");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead"), "2");
}

TEST_F(CallContext, IsKeptWithTheCallersWorkWhenACallFails)
{
    sql("CREATE TRIGGER no AFTER INSERT ON _honker_dead BEGIN SELECT raise(ABORT, 'no dead'); END;"
        "CREATE TRIGGER nobody AFTER INSERT ON _honker_live BEGIN SELECT raise(ABORT, 'no job');"
        "END; CREATE TRIGGER never AFTER UPDATE ON _honker_live WHEN NEW.id = 4 BEGIN"
        " SELECT raise(ABORT, 'no claim'); END");
    const auto before = all_rows();
    for (const refused& each : refused_there) {
        EXPECT_THAT(refusal_of(each.call), HasSubstr("no ")) << each.call;
        EXPECT_EQ(sqlite3_extended_errcode(connection_.handle()), SQLITE_ERROR);
        EXPECT_FALSE(in_transaction());
    }
    sql("BEGIN; INSERT INTO t VALUES (1)");
    for (const refused& each : refused_there) {
        EXPECT_NE(refusal_of(each.call), "") << each.call;
        EXPECT_TRUE(in_transaction());
    }
    sql("COMMIT");
    EXPECT_EQ(all_rows(), before);
    EXPECT_EQ(value("SELECT count(*) FROM t"), "1");
}

TEST_F(CallContext, IsOverWhenATriggerRollsTheTransactionBack)
{
    sql("CREATE TRIGGER no AFTER INSERT ON _honker_dead BEGIN SELECT raise(ROLLBACK, 'all gone');"
        "END");
    const auto before = all_rows();
    sql("BEGIN; INSERT INTO t VALUES (1)");
    EXPECT_EQ(refusal_of("honker_fail(1, 'w', 'no')"), "all gone");
    EXPECT_FALSE(in_transaction());
    EXPECT_EQ(refusal_of("honker_fail(1, 'w', 'no')"), "all gone");
    EXPECT_EQ(all_rows(), before);
    EXPECT_EQ(value("SELECT count(*) FROM t"), "0");
}

TEST_F(CallContext, MayBeASavepointOfAnyName)
{
    sql("SAVEPOINT skein_function; INSERT INTO t VALUES (1)");
    EXPECT_EQ(call("honker_fail(1, 'w', 'no')"), "1");
    sql("CREATE TEMP TRIGGER no AFTER INSERT ON _honker_dead BEGIN SELECT raise(ABORT, 'no'); END");
    EXPECT_EQ(refusal_of("honker_fail(2, 'w', 'no')"), "no");
    EXPECT_EQ(value("SELECT count(*) FROM t"), "1");
    sql("RELEASE skein_function");
    EXPECT_FALSE(in_transaction());
    EXPECT_EQ(value("SELECT group_concat(id) FROM _honker_dead"), "1");
}

TEST_F(CallContext, MayBeBesideAReader)
{
    sqlite3_stmt* reader = nullptr;
    sqlite3_prepare_v2(connection_.handle(), "SELECT id FROM _honker_live", -1, &reader, nullptr);
    ASSERT_EQ(sqlite3_step(reader), SQLITE_ROW);
    for (const refused& each : refused_there) {
        EXPECT_EQ(refusal_of(each.call), "") << each.call;
    }
    sqlite3_finalize(reader);
    EXPECT_FALSE(in_transaction());
}

TEST_F(CallContext, MayBeBesideAReaderWhenACallFails)
{
    sql("CREATE TRIGGER no AFTER INSERT ON _honker_dead BEGIN SELECT raise(ABORT, 'no'); END");
    sqlite3_stmt* reader = nullptr;
    sqlite3_prepare_v2(connection_.handle(), "SELECT id FROM _honker_live", -1, &reader, nullptr);
    ASSERT_EQ(sqlite3_step(reader), SQLITE_ROW);
    EXPECT_EQ(refusal_of("honker_fail(1, 'w', 'no')"), "no");
    EXPECT_FALSE(in_transaction());
    for (int i = 2; i <= 4; ++i) {
        EXPECT_EQ(sqlite3_step(reader), SQLITE_ROW);
        EXPECT_EQ(sqlite3_column_int(reader, 0), i);
    }
    EXPECT_EQ(sqlite3_step(reader), SQLITE_DONE);
    EXPECT_EQ(sqlite3_finalize(reader), SQLITE_OK);
}

/// A schedule that moves from one table to the other is in one of them, whatever happens.
TEST_F(CallContext, OfSchedulesIsWholeOrNothing)
{
    sql("CREATE TRIGGER no BEFORE DELETE ON _honker_scheduler_tasks BEGIN"
        " SELECT raise(ABORT, 'not this'); END");
    const auto before = all_rows();
    EXPECT_EQ(refusal_of("skein_scheduler_change('s', NULL, NULL, '{\"runs\":3}')"), "not this");
    EXPECT_EQ(refusal_of("skein_scheduler_add('s', 'q', '@every 1s', '{}', '{\"runs\":3}')"),
              "not this");
    EXPECT_FALSE(in_transaction());
    EXPECT_EQ(all_rows(), before);
}

} // namespace
