// What looks at queues do to the tables: nothing, but where older ones have to be upgraded.

#include "store/older_queue_program.hpp"
#include "support/manual_database.hpp"
#include "support/run_coroutine.hpp"
#include "support/temporary_directory.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace skein;
using skein::store::queue_format;
using ::testing::IsEmpty;

/// A file that another program may write first.
class QueueTables : public ::testing::Test {
protected:
    std::string objects() { return other_.value("SELECT count(*) FROM sqlite_schema"); }

    template <class Result>
    std::error_code failure(asio::awaitable<Result> look)
    {
        auto started = db_.start(std::move(look));
        db_.settle();
        EXPECT_TRUE(started.is_done());
        return started.error();
    }

    support::temporary_directory directory_;
    support::plain_connection other_{directory_ / "test.db"};
    support::manual_database db_{directory_ / "test.db"};
    skein::queue queue_ = db_.database().queue("q");
    skein::queue foreign_ = db_.database().queue("q", {.create_schema = false});
};

TEST_F(QueueTables, AreNotMadeByLooks)
{
    EXPECT_FALSE(db_.run(queue_.find(1)));
    EXPECT_FALSE(db_.run(db_.database().find_job(1)));
    for (const job_state state :
         {job_state::pending, job_state::scheduled, job_state::processing}) {
        EXPECT_THAT(db_.run(queue_.list(state)), IsEmpty());
    }
    EXPECT_EQ(db_.run(queue_.counts()).pending, 0U);
    EXPECT_FALSE(db_.run(queue_.next_due()));
    EXPECT_THAT(db_.run(db_.database().queues()), IsEmpty());
    EXPECT_FALSE(db_.run(queue_.dead_letters().find(1)));
    EXPECT_THAT(db_.run(queue_.dead_letters().list()), IsEmpty());
    EXPECT_EQ(objects(), "0");
    db_.run(queue_.enqueue("1"));
    EXPECT_EQ(db_.run(queue_.counts()).pending, 1U);
}

TEST_F(QueueTables, AreMadeByWhatMayWrite)
{
    EXPECT_FALSE(db_.run(queue_.cancel(1)));
    EXPECT_EQ(db_.run(queue_.sweep_expired()), 0U);
    EXPECT_FALSE(db_.run(db_.database().cancel_job(1)));
    EXPECT_FALSE(db_.run(queue_.dead_letters().redrive(1)));
    EXPECT_THAT(db_.run(queue_.dead_letters().redrive_all()), IsEmpty());
    EXPECT_EQ(db_.run(queue_.dead_letters().purge_all()), 0U);
    EXPECT_EQ(db_.run(queue_.dead_letters().prune({.keep = 0})), 0U);
    EXPECT_NE(objects(), "0");
}

TEST_F(QueueTables, ThatAreSomebodyElsesAreMissedWhenTheyAreNotThere)
{
    const skein::dead_letters dead = foreign_.dead_letters();
    EXPECT_EQ(failure(foreign_.find(1)), errc::storage_failure);
    EXPECT_EQ(failure(foreign_.list(job_state::pending)), errc::storage_failure);
    EXPECT_EQ(failure(foreign_.counts()), errc::storage_failure);
    EXPECT_EQ(failure(foreign_.next_due()), errc::storage_failure);
    EXPECT_EQ(failure(foreign_.cancel(1)), errc::storage_failure);
    EXPECT_EQ(failure(foreign_.sweep_expired()), errc::storage_failure);
    EXPECT_EQ(failure(dead.find(1)), errc::storage_failure);
    EXPECT_EQ(failure(dead.list()), errc::storage_failure);
    EXPECT_EQ(failure(dead.redrive(1)), errc::storage_failure);
    EXPECT_EQ(failure(dead.redrive_all()), errc::storage_failure);
    EXPECT_EQ(failure(dead.purge_all()), errc::storage_failure);
    EXPECT_EQ(failure(dead.prune({.keep = 1})), errc::storage_failure);
    EXPECT_EQ(objects(), "0");
    EXPECT_EQ(db_.run(queue_.counts()).pending, 0U) << "ours are not missed";
}

TEST_F(QueueTables, WithoutOurAdditionsAreLookedAtAsTheyAre)
{
    store::create_queue_format(other_, queue_format::newest);
    other_.sql("INSERT INTO _honker_live (id, queue, payload, run_at) VALUES (1, 'q', '1', 50);"
               "INSERT INTO _honker_dead (id, queue, payload, died_at) VALUES (70, 'q', '1', 50),"
               " (71, 'r', '1', 40), (72, 'q', '1', 40)");
    const std::string before = objects();
    for (const skein::queue& each : {queue_, foreign_, queue_}) {
        EXPECT_EQ(db_.run(each.find(1))->state, job_state::pending);
        EXPECT_EQ(db_.run(each.list(job_state::pending)).size(), 1U);
        EXPECT_EQ(db_.run(each.counts()).dead, 2U);
        EXPECT_TRUE(db_.run(each.next_due()));
        EXPECT_TRUE(db_.run(each.dead_letters().find(70)));
        const auto letters = db_.run(each.dead_letters().list());
        ASSERT_EQ(letters.size(), 2U);
        EXPECT_EQ(letters[0].id, 72);
    }
    EXPECT_EQ(db_.run(db_.database().queues()).size(), 2U);
    EXPECT_TRUE(db_.run(db_.database().find_job(71)));
    EXPECT_TRUE(db_.run(db_.database().cancel_job(1)));
    EXPECT_EQ(db_.run(foreign_.dead_letters().purge_all()), 2U);
    EXPECT_EQ(objects(), before);
    EXPECT_EQ(db_.run(db_.database().queue("r").dead_letters().purge_all()), 1U);
    EXPECT_NE(objects(), before);
}

TEST_F(QueueTables, WithoutOurAdditionsStayAsTheyAreWhenAJobIsCancelledFirst)
{
    store::create_queue_format(other_, queue_format::newest);
    other_.sql("INSERT INTO _honker_live (id, queue, payload, run_at) VALUES (1, 'q', '1', 50)");
    const std::string before = objects();
    EXPECT_TRUE(db_.run(db_.database().cancel_job(1)));
    EXPECT_FALSE(db_.run(db_.database().cancel_job(1)));
    EXPECT_EQ(objects(), before);
}

TEST_F(QueueTables, OfANewerSkeinAreRefused)
{
    db_.run(queue_.enqueue("1"));
    other_.sql("UPDATE _skein_meta SET version = 99 WHERE name = 'queue'");
    db_.reopen();
    queue_ = db_.database().queue("q");
    EXPECT_EQ(failure(queue_.find(1)), errc::schema_too_new);
    EXPECT_EQ(failure(queue_.cancel(1)), errc::schema_too_new);
    EXPECT_EQ(failure(db_.database().queues()), errc::schema_too_new);
    EXPECT_EQ(failure(db_.database().cancel_job(1)), errc::schema_too_new);
}

/// Tables of an older shape, in which jobs of the future are pending, with one job of now and one
/// of later.
class OlderQueueTables : public QueueTables, public ::testing::WithParamInterface<queue_format> {
protected:
    OlderQueueTables()
    {
        store::create_queue_format(other_, GetParam());
        other_.sql("INSERT INTO _honker_live (id, queue, payload, run_at) VALUES"
                   " (1, 'q', '1', 50), (2, 'q', '2', 150)");
    }
};

TEST_P(OlderQueueTables, AreUpgradedBeforeTheyAreCounted)
{
    const queue_counts counts = db_.run(queue_.counts());
    EXPECT_EQ(counts.pending, 1U);
    EXPECT_EQ(counts.scheduled, 1U);
}

TEST_P(OlderQueueTables, AreUpgradedBeforeAJobIsLookedFor)
{
    EXPECT_EQ(db_.run(queue_.find(2))->state, job_state::scheduled);
}

TEST_P(OlderQueueTables, AreUpgradedBeforeTheyAreListed)
{
    EXPECT_EQ(db_.run(queue_.list(job_state::scheduled)).size(), 1U);
}

TEST_P(OlderQueueTables, AreUpgradedBeforeQueuesAreTold)
{
    EXPECT_EQ(db_.run(db_.database().queues()).size(), 1U);
}

TEST_P(OlderQueueTables, StayAsTheyAreWhereTheyAreSomebodyElses)
{
    const std::string before = objects();
    EXPECT_EQ(failure(foreign_.counts()), errc::storage_failure);
    EXPECT_EQ(failure(foreign_.list(job_state::pending)), errc::storage_failure);
    EXPECT_EQ(objects(), before);
}

TEST_P(OlderQueueTables, AreNotUpgradedForALookThatWasCancelled)
{
    const std::string before = objects();
    auto look = db_.start(queue_.counts());
    look.cancel();
    db_.settle();
    EXPECT_EQ(look.error(), asio::error::operation_aborted);
    EXPECT_EQ(objects(), before);
}

TEST_P(OlderQueueTables, AreUpgradedOnceNobodyElseHoldsTheLock)
{
    other_.sql("BEGIN IMMEDIATE; INSERT INTO _honker_live (queue, payload, run_at)"
               " VALUES ('q', '1', 50)");
    auto look = db_.start(queue_.counts());
    db_.settle();
    EXPECT_FALSE(look.is_done());
    other_.sql("COMMIT");
    db_.advance(std::chrono::milliseconds(10));
    EXPECT_EQ(look.result().pending, 2U);
}

INSTANTIATE_TEST_SUITE_P(OfEachShape, OlderQueueTables,
                         ::testing::Values(queue_format::without_claimed_at,
                                           queue_format::without_scheduled),
                         [](const auto& format) {
                             return format.param == queue_format::without_scheduled
                                        ? "WithoutScheduled"
                                        : "WithoutClaimedAt";
                         });

} // namespace
