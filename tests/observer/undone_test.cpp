#include "observer/observer_fixture.hpp"

#include <sqlite3.h>

#include <array>
#include <stdexcept>

namespace {

using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What was undone is not told.
class ObservedFailure : public support::observer_fixture {
protected:
    ObservedFailure()
    {
        other_.sql("CREATE TRIGGER refuse BEFORE INSERT ON _honker_live"
                   " WHEN NEW.payload = '\"bad\"' BEGIN SELECT RAISE(ABORT, 'not this'); END");
        db_.settle();
        static_cast<void>(take());
    }

    void run_sql(transaction& tx, const char* sql) { tx.database().exec(sql); }
};

TEST_F(ObservedFailure, OfOneOperationIsOfItAlone)
{
    const auto before = db_.start(queue_.enqueue("1"));
    const auto bad = db_.start(queue_.enqueue("\"bad\""));
    const auto after = db_.start(queue_.enqueue("2"));
    db_.settle();
    EXPECT_TRUE(bad.has_failed());
    EXPECT_THAT(take(), ElementsAre("enqueued q#1 by program", "enqueued q#2 by program",
                                    "batch of 3, 1 failed, 0 ms, commit 0 ms"));
}

TEST_F(ObservedFailure, OfSomeOfManyIsOfAllOfThem)
{
    const std::array<new_job, 2> jobs{new_job{"1"}, new_job{"\"bad\""}};
    EXPECT_THROW(db_.run(queue_.enqueue_many(jobs)), error);
    EXPECT_THAT(take(), ElementsAre("batch of 1, 1 failed, 0 ms, commit 0 ms"));
}

TEST_F(ObservedFailure, OfACallbackIsOfAllThatItHasDone)
{
    const auto before = db_.start(queue_.enqueue("1"));
    const auto failing = [&](transaction& tx) {
        queue_.enqueue(tx, "2");
        throw std::runtime_error("mine");
    };
    const auto bad = db_.start(db_.database().transaction(failing));
    db_.settle();
    EXPECT_TRUE(bad.has_failed());
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#1 by program"));
}

TEST_F(ObservedFailure, ThatACallbackCatchesIsOfThatCallAlone)
{
    transact([&](transaction& tx) {
        queue_.enqueue(tx, "1");
        EXPECT_ANY_THROW(queue_.enqueue(tx, "\"bad\""));
        const std::array<new_job, 2> jobs{new_job{"2"}, new_job{"\"bad\""}};
        EXPECT_ANY_THROW(queue_.enqueue_many(tx, jobs));
        queue_.enqueue(tx, "3");
    });
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#1 by program", "enqueued q#2 by program"));
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_live"), "1,3");
}

TEST_F(ObservedFailure, IsWhatASavepointOfTheUsersUndoes)
{
    transact([&](transaction& tx) {
        queue_.enqueue(tx, "1");
        run_sql(tx, "SAVEPOINT mine");
        queue_.enqueue(tx, "2");
        run_sql(tx, "SAVEPOINT inner");
        queue_.enqueue(tx, "3");
        run_sql(tx, "RELEASE inner");
        run_sql(tx, "ROLLBACK TO mine");
        queue_.enqueue(tx, "4");
        run_sql(tx, "RELEASE mine");
        run_sql(tx, "SAVEPOINT last");
        queue_.enqueue(tx, "5");
        run_sql(tx, "ROLLBACK TO last");
        run_sql(tx, "RELEASE last");
    });
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_live"), "1,4");
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#1 by program", "enqueued q#2 by program"));
}

TEST_F(ObservedFailure, ByASavepointAtTheBeginningOfACallbackLeavesWhatWasBeforeIt)
{
    transact([&](transaction& tx) { queue_.enqueue(tx, "1"); });
    const auto before = db_.start(queue_.enqueue("2"));
    const auto undoing = [&](transaction& tx) {
        run_sql(tx, "SAVEPOINT mine");
        queue_.enqueue(tx, "3");
        run_sql(tx, "ROLLBACK TO mine");
        run_sql(tx, "RELEASE mine");
    };
    const auto between = db_.start(db_.database().transaction(undoing));
    const auto after = db_.start(queue_.enqueue("4"));
    db_.settle();
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_live"), "1,2,4");
    EXPECT_THAT(take(),
                ElementsAre("enqueued q#1 by program", "batch of 1, 0 failed, 0 ms, commit 0 ms",
                            "enqueued q#2 by program", "enqueued q#3 by program",
                            "batch of 3, 0 failed, 0 ms, commit 0 ms"));
}

TEST_F(ObservedFailure, OfTheTransactionIsOfTheWholeBatch)
{
    other_.sql("CREATE TABLE t (v UNIQUE)");
    const auto before = db_.start(queue_.enqueue("1"));
    const auto ending = [&](transaction& tx) {
        run_sql(tx, "INSERT INTO t VALUES (1)");
        run_sql(tx, "INSERT OR ROLLBACK INTO t VALUES (1)");
    };
    const auto between = db_.start(db_.database().transaction(ending));
    db_.settle();
    EXPECT_TRUE(before.has_failed());
    EXPECT_THAT(take(), ElementsAre("batch of 2 failed: " +
                                    make_error_code(errc::storage_failure).message() + " 2067"));
}

TEST_F(ObservedFailure, OfTheCommitIsOfTheWholeBatch)
{
    sqlite3_commit_hook(handle_, [](void*) { return 1; }, nullptr);
    const auto enqueued = db_.start(queue_.enqueue("1"));
    const auto more = db_.start(queue_.enqueue("2"));
    db_.settle();
    sqlite3_commit_hook(handle_, nullptr, nullptr);
    EXPECT_TRUE(enqueued.has_failed());
    EXPECT_TRUE(more.has_failed());
    EXPECT_THAT(take(), ElementsAre("batch of 2 failed: " +
                                    make_error_code(errc::storage_failure).message() + " 531"));
    enqueue("3");
    EXPECT_THAT(take_deeds(), ElementsAre("enqueued q#1 by program"));
}

TEST_F(ObservedFailure, OfAClaimLeavesItUntoldUntilItSucceeds)
{
    enqueue("1");
    other_.sql("CREATE TRIGGER hold BEFORE UPDATE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    static_cast<void>(take());
    EXPECT_THROW(db_.run(queue_.try_claim()), error);
    EXPECT_THAT(take_deeds(), IsEmpty());
    other_.sql("DROP TRIGGER hold");
    const job claimed = claim({.worker = "w"});
    EXPECT_THAT(take_deeds(), ElementsAre("claimed q#1 attempt 1/3 by w after 0 s"));
}

} // namespace
