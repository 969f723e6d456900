#include "queue/queue_fixture.hpp"

#include <limits>

namespace {

using namespace std::chrono_literals;
using namespace skein;

class QueueCancel : public support::queue_fixture {
protected:
    bool cancel(std::int64_t id) { return db_.run(queue_.cancel(id)); }

    job claim_new()
    {
        enqueue();
        return claim();
    }

    skein::queue another_ = db_.database().queue("another");
};

TEST_F(QueueCancel, TakesBackAJobThatWaits)
{
    const std::int64_t ready = enqueue();
    const std::int64_t later = enqueue("null", {.delay = 5s});
    EXPECT_TRUE(cancel(ready));
    EXPECT_TRUE(cancel(later));
    EXPECT_EQ(state_of(ready), "gone");
    EXPECT_EQ(state_of(later), "gone");
    db_.advance(10s);
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_FALSE(cancel(ready));
}

TEST_F(QueueCancel, TakesBackARunningJobWhoseWorkerLearnsOfItWhenItFinishes)
{
    job running = claim_new();
    EXPECT_TRUE(cancel(running.id()));
    EXPECT_EQ(state_of(running.id()), "gone");
    EXPECT_FALSE(db_.run(running.extend(1h)));
    EXPECT_FALSE(db_.run(running.ack()));
    job another = claim_new();
    EXPECT_TRUE(cancel(another.id()));
    EXPECT_EQ(db_.run(another.retry(1s, "e")), retry_outcome::stale);
    job third = claim_new();
    EXPECT_TRUE(cancel(third.id()));
    EXPECT_FALSE(db_.run(third.fail("e")));
    EXPECT_EQ(state_of(third.id()), "gone") << "no dead letter";
}

TEST_F(QueueCancel, LeavesNothingToGiveBackWhenTheWorkerDropsTheJob)
{
    std::int64_t id = 0;
    {
        const job running = claim_new();
        id = running.id();
        EXPECT_TRUE(cancel(id));
    }
    db_.settle();
    EXPECT_EQ(state_of(id), "gone");
}

TEST_F(QueueCancel, TakesBackAJobWhoseLeaseHasLapsed)
{
    const job running = claim_new();
    db_.advance(1h);
    EXPECT_TRUE(cancel(running.id()));
}

TEST_F(QueueCancel, LeavesWhatIsNoLiveJobOfTheQueueAlone)
{
    job failed = claim_new();
    EXPECT_TRUE(db_.run(failed.fail("e")));
    EXPECT_FALSE(cancel(failed.id())) << "dead";
    EXPECT_EQ(state_of(failed.id()), "dead: e");

    const std::int64_t theirs = db_.run(another_.enqueue("1"));
    EXPECT_FALSE(cancel(theirs)) << "of another queue";
    EXPECT_EQ(state_of(theirs), "pending");

    other_.sql("INSERT INTO _honker_live (id, queue, payload, state) VALUES"
               " (77, 'q', '1', 'paused')");
    EXPECT_FALSE(cancel(77)) << "in a state of another program's";
    EXPECT_EQ(state_of(77), "paused");

    using limits = std::numeric_limits<std::int64_t>;
    EXPECT_FALSE(cancel(limits::min()));
    EXPECT_FALSE(cancel(limits::max()));
    EXPECT_FALSE(cancel(0));
}

TEST_F(QueueCancel, OfTheDatabaseFindsTheJobInEveryQueue)
{
    const std::int64_t mine = enqueue();
    const std::int64_t theirs = db_.run(another_.enqueue("1"));
    EXPECT_TRUE(db_.run(db_.database().cancel_job(mine)));
    EXPECT_TRUE(db_.run(db_.database().cancel_job(theirs)));
    EXPECT_FALSE(db_.run(db_.database().cancel_job(theirs)));
    EXPECT_EQ(state_of(mine), "gone");
    EXPECT_EQ(state_of(theirs), "gone");
}

TEST_F(QueueCancel, HappensIfAndWhenTheTransactionCommits)
{
    const std::int64_t first = enqueue();
    const std::int64_t second = enqueue();
    auto undone = [&](transaction& tx) {
        EXPECT_TRUE(queue_.cancel(tx, first));
        EXPECT_TRUE(db_.database().cancel_job(tx, second));
        EXPECT_FALSE(queue_.cancel(tx, first));
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(undone)), std::runtime_error);
    EXPECT_EQ(state_of(first), "pending");
    EXPECT_EQ(state_of(second), "pending");

    auto done = [&](transaction& tx) {
        EXPECT_TRUE(queue_.cancel(tx, first));
        EXPECT_TRUE(db_.database().cancel_job(tx, second));
        EXPECT_FALSE(another_.cancel(tx, second));
    };
    db_.run(db_.database().transaction(done));
    EXPECT_EQ(state_of(first), "gone");
    EXPECT_EQ(state_of(second), "gone");
}

TEST_F(QueueCancel, RefusesATransactionOfAnotherDatabase)
{
    const std::int64_t id = enqueue();
    support::manual_database foreign;
    auto work = [&](transaction& tx) {
        EXPECT_THROW(static_cast<void>(queue_.cancel(tx, id)), error);
        EXPECT_THROW(static_cast<void>(queue_.sweep_expired(tx)), error);
        EXPECT_THROW(static_cast<void>(db_.database().cancel_job(tx, id)), error);
        try {
            static_cast<void>(queue_.dead_letters().redrive(tx, id));
            ADD_FAILURE() << "accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
        }
    };
    foreign.run(foreign.database().transaction(work));
    EXPECT_EQ(state_of(id), "pending");
}

TEST_F(QueueCancel, CanBeCancelledItself)
{
    const std::int64_t id = enqueue();
    auto started = db_.start(queue_.cancel(id));
    started.cancel();
    db_.settle();
    EXPECT_EQ(started.error(), asio::error::operation_aborted);
    EXPECT_EQ(state_of(id), "pending");
    db_.run(db_.database().close());
    auto late = db_.start(db_.database().cancel_job(id));
    db_.settle();
    EXPECT_EQ(late.error(), errc::closed);
}

} // namespace
