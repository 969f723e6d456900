#include "runtime/running_queue.hpp"

#include <skein/transaction.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace {

using skein::errc;
using skein::transaction;
using skein::support::operation;
using skein::support::plain_connection;
using testing::ElementsAre;
using testing::IsEmpty;

/// One operation misbehaves, between two that don't: all three are in one batch.
class BatchFailure : public skein::support::running_queue {
protected:
    void run_between_neighbours(const std::function<void(transaction&)>& work)
    {
        before_ = start_publish("before");
        between_ = start_transaction(work);
        after_ = start_publish("after");
        db_.settle();
        EXPECT_TRUE(before_->is_done());
        EXPECT_TRUE(between_->is_done());
        EXPECT_TRUE(after_->is_done());
    }

    void expect_neighbours_committed()
    {
        EXPECT_FALSE(before_->has_failed());
        EXPECT_FALSE(after_->has_failed());
        EXPECT_THAT(payloads(), ElementsAre("before", "after"));
        expect_works();
    }

    /// What had run before the end of the transaction has not happened; what had not was run in a
    /// batch of its own.
    void expect_batch_failed(errc code)
    {
        EXPECT_EQ(before_->error(), code);
        EXPECT_TRUE(between_->has_failed());
        EXPECT_FALSE(after_->has_failed());
        EXPECT_THAT(payloads(), ElementsAre("after"));
        EXPECT_THAT(other_.sql("SELECT v FROM t"), IsEmpty());
        expect_works();
    }

    void expect_works()
    {
        EXPECT_NO_THROW(publish("later"));
        EXPECT_EQ(payloads().back(), "later");
        const auto insert = [](transaction& tx) {
            tx.database().exec("INSERT INTO t VALUES (99)");
        };
        EXPECT_NO_THROW(db_.run(db_.database().transaction(insert)));
    }

    std::optional<operation<void>> before_;
    std::optional<operation<void>> between_;
    std::optional<operation<void>> after_;
};

/// Interrupts the next statement on a connection that begins with this text, before it does
/// anything.
class interruption {
public:
    interruption(sqlite3* handle, std::string text) : handle_(handle), text_(std::move(text))
    {
        sqlite3_trace_v2(handle_, SQLITE_TRACE_STMT, &interruption::note_statement, this);
        sqlite3_progress_handler(handle_, 1, &interruption::interrupts, this);
    }
    interruption(const interruption&) = delete;
    interruption& operator=(const interruption&) = delete;

    ~interruption()
    {
        sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
        sqlite3_trace_v2(handle_, 0, nullptr, nullptr);
    }

    [[nodiscard]] int interrupted() const noexcept { return interrupted_; }

private:
    static int note_statement(unsigned /*event*/, void* self, void* /*statement*/, void* text)
    {
        auto& owner = *static_cast<interruption*>(self);
        owner.is_due_ = owner.interrupted_ == 0 &&
                        std::string_view(static_cast<const char*>(text)).starts_with(owner.text_);
        return 0;
    }

    static int interrupts(void* self)
    {
        auto& owner = *static_cast<interruption*>(self);
        owner.interrupted_ += owner.is_due_ ? 1 : 0;
        return std::exchange(owner.is_due_, false) ? 1 : 0;
    }

    sqlite3* handle_;
    std::string text_;
    bool is_due_ = false;
    int interrupted_ = 0;
};

struct my_failure {
    int number;
};

TEST_F(BatchFailure, OfOnePublishLeavesTheOthersOfItsBatch)
{
    other_.sql("CREATE TRIGGER refuse BEFORE INSERT ON harel_transport_messages"
               " WHEN NEW.event = 'bad' BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    auto before = start_publish("before");
    auto bad = start_publish("bad", "bad");
    auto after = start_publish("after");
    db_.settle();
    EXPECT_FALSE(before.has_failed());
    EXPECT_EQ(bad.error(), errc::storage_failure);
    EXPECT_FALSE(after.has_failed());
    EXPECT_THAT(payloads(), ElementsAre("before", "after"));
    EXPECT_EQ(other_.value("SELECT group_concat(group_id) FROM harel_transport_groups"), "g");
}

TEST_F(BatchFailure, OfOnePublishCostsNobodyHisPlaceWhenAnotherTakesTheLock)
{
    other_.sql("CREATE TRIGGER refuse BEFORE INSERT ON harel_transport_messages"
               " WHEN NEW.event = 'bad' BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    auto before = start_publish("before");
    auto bad = start_publish("bad", "bad");
    auto after = start_publish("after");
    // What has failed together is undone, and here somebody is quicker than its repetition.
    sqlite3_rollback_hook(
        handle_, [](void* other) { static_cast<plain_connection*>(other)->sql("BEGIN IMMEDIATE"); },
        &other_);
    db_.settle();
    sqlite3_rollback_hook(handle_, nullptr, nullptr);
    EXPECT_FALSE(before.is_done());
    EXPECT_FALSE(bad.is_done());
    EXPECT_FALSE(after.is_done());
    other_.sql("INSERT INTO t VALUES (1); COMMIT");
    db_.advance(std::chrono::milliseconds{1});
    EXPECT_FALSE(before.has_failed());
    EXPECT_EQ(bad.error(), errc::storage_failure);
    EXPECT_FALSE(after.has_failed());
    EXPECT_THAT(payloads(), ElementsAre("before", "after"));
}

TEST_F(BatchFailure, OfOneClaimLeavesTheOthersOfItsLine)
{
    other_.sql("CREATE TRIGGER refuse BEFORE UPDATE ON harel_transport_messages"
               " WHEN NEW.event = 'bad' BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    publish("good", "a");
    publish("bad", "b");
    auto first = start_claim();
    auto second = start_claim();
    db_.settle();
    const skein::message claimed = first.result();
    EXPECT_EQ(claimed.payload(), "good");
    EXPECT_EQ(second.error(), errc::storage_failure);
    EXPECT_EQ(leased(), "1");
}

TEST_F(BatchFailure, OfASavepointIsOfOneOperation)
{
    auto first =
        start_transaction([](transaction& tx) { tx.database().exec("INSERT INTO t VALUES (1)"); });
    auto second = start_publish("second");
    {
        const interruption interrupted(handle_, "SAVEPOINT");
        db_.settle();
        EXPECT_EQ(interrupted.interrupted(), 1);
    }
    EXPECT_EQ(first.error(), errc::storage_failure);
    EXPECT_FALSE(second.has_failed());
    EXPECT_THAT(other_.sql("SELECT v FROM t"), IsEmpty());
    EXPECT_THAT(payloads(), ElementsAre("second"));
    expect_works();
}

TEST_F(BatchFailure, OfAConstraintIsOfOneOperationAlone)
{
    other_.sql("INSERT INTO t VALUES ('old')");
    run_between_neighbours([](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1)");
        tx.database().exec("INSERT INTO t VALUES ('old')");
    });
    EXPECT_THROW(between_->result(), SQLite::Exception);
    EXPECT_THAT(other_.sql("SELECT v FROM t"), ElementsAre("old"));
    expect_neighbours_committed();
}

TEST_F(BatchFailure, OfACallbackThatThrowsIsOfOneOperationAlone)
{
    run_between_neighbours([this](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1)");
        queue_.publish(tx, "g", "undone");
        throw my_failure{7};
    });
    EXPECT_THROW(between_->result(), my_failure);
    EXPECT_THAT(other_.sql("SELECT v FROM t"), IsEmpty());
    expect_neighbours_committed();
}

TEST_F(BatchFailure, OfADeferredForeignKeyIsOfOneOperationAlone)
{
    other_.sql("CREATE TABLE child (parent REFERENCES t (v) DEFERRABLE INITIALLY DEFERRED)");
    sqlite3_exec(handle_, "PRAGMA foreign_keys = on", nullptr, nullptr, nullptr);
    run_between_neighbours(
        [](transaction& tx) { tx.database().exec("INSERT INTO child VALUES ('nobody')"); });
    EXPECT_EQ(between_->error(), errc::storage_failure);
    EXPECT_THAT(other_.sql("SELECT parent FROM child"), IsEmpty());
    expect_neighbours_committed();
}

TEST_F(BatchFailure, OfAClaimIsOfOneOperationAlone)
{
    publish("unclaimable", "first");
    other_.sql("CREATE TRIGGER refuse BEFORE UPDATE OF locked_by ON harel_transport_messages"
               " WHEN NEW.group_id = 'first' BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    const auto neighbour = start_publish("neighbour", "second");
    const auto claim = start_claim();
    db_.settle();
    EXPECT_FALSE(neighbour.has_failed());
    EXPECT_TRUE(neighbour.is_done());
    EXPECT_EQ(claim.error(), errc::storage_failure);
    EXPECT_THAT(payloads(), ElementsAre("unclaimable", "neighbour"));
    EXPECT_EQ(leased(), "0");
}

TEST_F(BatchFailure, OfATriggerThatRollsBackIsOfAll)
{
    other_.sql("CREATE TRIGGER stop BEFORE INSERT ON t WHEN NEW.v = 'stop'"
               " BEGIN SELECT RAISE(ROLLBACK, 'all of it'); END");
    run_between_neighbours([](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1)");
        tx.database().exec("INSERT INTO t VALUES ('stop')");
    });
    EXPECT_THROW(between_->result(), SQLite::Exception);
    expect_batch_failed(errc::storage_failure);
}

TEST_F(BatchFailure, ThatACallbackSwallowsIsOfAll)
{
    other_.sql("CREATE TRIGGER stop BEFORE INSERT ON t WHEN NEW.v = 'stop'"
               " BEGIN SELECT RAISE(ROLLBACK, 'all of it'); END");
    run_between_neighbours([](transaction& tx) {
        EXPECT_THROW(tx.database().exec("INSERT INTO t VALUES ('stop')"), SQLite::Exception);
    });
    EXPECT_EQ(between_->error(), errc::storage_failure);
    expect_batch_failed(errc::storage_failure);
}

TEST_F(BatchFailure, OfACallbackThatGoesOnAfterTheEndOfItsTransactionLetsNothingThrough)
{
    other_.sql("CREATE TRIGGER stop BEFORE INSERT ON t WHEN NEW.v = 'stop'"
               " BEGIN SELECT RAISE(ROLLBACK, 'all of it'); END");
    run_between_neighbours([this](transaction& tx) {
        EXPECT_THROW(tx.database().exec("INSERT INTO t VALUES ('stop')"), SQLite::Exception);
        try {
            tx.database().exec("INSERT INTO t VALUES ('slipped through')");
        } catch (const SQLite::Exception&) {
        }
        try {
            queue_.publish(tx, "g", "slipped through");
        } catch (const std::exception&) {
        }
    });
    expect_batch_failed(errc::storage_failure);
}

void interrupt(sqlite3_context* context, int /*count*/, sqlite3_value** /*arguments*/)
{
    sqlite3_interrupt(sqlite3_context_db_handle(context));
}

TEST_F(BatchFailure, OfAnInterruptIsOfAll)
{
    run_between_neighbours([](transaction& tx) {
        tx.database().createFunction("interrupt", 0, false, nullptr, &interrupt);
        tx.database().exec("INSERT INTO t WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1"
                           " FROM c WHERE interrupt() IS NULL LIMIT 1000) SELECT v FROM c");
    });
    EXPECT_THROW(between_->result(), SQLite::Exception);
    expect_batch_failed(errc::storage_failure);
}

TEST_F(BatchFailure, OfAFullDiskIsOfAll)
{
    other_.sql("CREATE TABLE plain (v)");
    run_between_neighbours([](transaction& tx) {
        tx.database().exec("PRAGMA max_page_count = 1"); // as many as there are
        tx.database().exec("INSERT INTO plain VALUES (zeroblob(1000000))");
    });
    EXPECT_THROW(between_->result(), SQLite::Exception);
    sqlite3_exec(handle_, "PRAGMA max_page_count = 1000000", nullptr, nullptr, nullptr);
    expect_batch_failed(errc::disk_full);
}

TEST_F(BatchFailure, OfAFullDiskThatEndsOneStatementOnlyIsOfOneOperationAlone)
{
    run_between_neighbours([](transaction& tx) {
        tx.database().exec("PRAGMA max_page_count = 1");
        try {
            // Several rows at once: SQLite undoes the statement, not the transaction.
            tx.database().exec(
                "INSERT INTO t WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL"
                " SELECT v + 1 FROM c LIMIT 100) SELECT zeroblob(100000 + v) FROM c");
        } catch (...) {
            tx.database().exec("PRAGMA max_page_count = 1000000");
            throw;
        }
    });
    EXPECT_THROW(between_->result(), SQLite::Exception);
    EXPECT_THAT(other_.sql("SELECT v FROM t"), IsEmpty());
    expect_neighbours_committed();
}

TEST_F(BatchFailure, OfAPublishOnAFullDiskSaysSo)
{
    sqlite3_exec(handle_, "PRAGMA max_page_count = 1", nullptr, nullptr, nullptr);
    const std::string large(1'000'000, 'x');
    const auto neighbour = start_publish("small");
    auto full = start_publish(large);
    db_.settle();
    EXPECT_EQ(full.error(), errc::disk_full);
    EXPECT_EQ(neighbour.error(), errc::disk_full);
    try {
        full.result();
    } catch (const skein::error& failure) {
        EXPECT_EQ(failure.sqlite_code(), SQLITE_FULL);
        EXPECT_THAT(failure.what(), testing::HasSubstr(db_.path().string()));
    }
    sqlite3_exec(handle_, "PRAGMA max_page_count = 1000000", nullptr, nullptr, nullptr);
    EXPECT_THAT(payloads(), IsEmpty());
    expect_works();
}

TEST_F(BatchFailure, OfTheCommitIsOfAll)
{
    const auto refuse = [](void*) { return 1; };
    sqlite3_commit_hook(handle_, refuse, nullptr);
    run_between_neighbours([](transaction& tx) { tx.database().exec("INSERT INTO t VALUES (1)"); });
    sqlite3_commit_hook(handle_, nullptr, nullptr);
    EXPECT_EQ(before_->error(), errc::storage_failure);
    EXPECT_EQ(between_->error(), errc::storage_failure);
    EXPECT_EQ(after_->error(), errc::storage_failure);
    EXPECT_THAT(payloads(), IsEmpty());
    EXPECT_THAT(other_.sql("SELECT v FROM t"), IsEmpty());
    expect_works();
}

TEST_F(BatchFailure, OfTheCommitLeavesAClaimedMessageClaimable)
{
    publish("m");
    const auto refuse = [](void*) { return 1; };
    sqlite3_commit_hook(handle_, refuse, nullptr);
    const auto claim = start_claim();
    db_.settle();
    sqlite3_commit_hook(handle_, nullptr, nullptr);
    EXPECT_EQ(claim.error(), errc::storage_failure);
    EXPECT_EQ(leased(), "0");
    EXPECT_EQ(peek(), "m");
}

TEST_F(BatchFailure, OfTheCommitDoesNotEndThoseThatOnlyWait)
{
    skein::claim_options high;
    high.min_priority = 4;
    auto waiting = start_claim(high);
    db_.settle();
    const auto refuse = [](void*) { return 1; };
    sqlite3_commit_hook(handle_, refuse, nullptr);
    const auto failed = start_publish("low");
    db_.settle();
    sqlite3_commit_hook(handle_, nullptr, nullptr);
    EXPECT_EQ(failed.error(), errc::storage_failure);
    EXPECT_FALSE(waiting.is_done());
    skein::publish_options priority;
    priority.priority = 4;
    db_.run(queue_.publish("h", "high", priority));
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "high");
}

TEST_F(BatchFailure, OfTheCommitTellsThoseWhoFoundNothingToLookAgain)
{
    publish("m");
    int commits = 0;
    const auto refuse_first = [](void* count) { return ++*static_cast<int*>(count) == 1 ? 1 : 0; };
    sqlite3_commit_hook(handle_, refuse_first, &commits);
    const auto first = start_claim();
    auto second = start_claim();
    db_.settle();
    sqlite3_commit_hook(handle_, nullptr, nullptr);
    EXPECT_EQ(first.error(), errc::storage_failure);
    ASSERT_TRUE(second.is_done());
    EXPECT_EQ(second.result().payload(), "m");
}

TEST_F(BatchFailure, WhileTheTablesAreMadeLeavesThemToTheNextOperation)
{
    skein::transport_options fresh;
    fresh.prefix = "fresh";
    const skein::transport queue = db_.database().transport(fresh);
    const auto refuse = [](void*) { return 1; };
    sqlite3_commit_hook(handle_, refuse, nullptr);
    auto failed = db_.start(queue.publish("g", "m"));
    db_.settle();
    sqlite3_commit_hook(handle_, nullptr, nullptr);
    EXPECT_EQ(failed.error(), errc::storage_failure);
    EXPECT_NO_THROW(db_.run(queue.publish("g", "again")));
    EXPECT_EQ(db_.run(queue.claim()).payload(), "again");
}

} // namespace
