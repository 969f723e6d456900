#include "observer/observer_fixture.hpp"

#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ObservedBatch : public support::observer_fixture {};

TEST_F(ObservedBatch, IsToldBehindWhatItHasDone)
{
    const auto first = db_.start(queue_.enqueue("1"));
    const auto second = db_.start(queue_.enqueue("2"));
    db_.settle();
    EXPECT_THAT(take(), ElementsAre("enqueued q#1 by program", "enqueued q#2 by program",
                                    "batch of 2, 0 failed, 0 ms, commit 0 ms"));
}

TEST_F(ObservedBatch, HoldsOneClaimForEachThatWasServed)
{
    const auto first = db_.start(queue_.claim("w"));
    const auto second = db_.start(queue_.claim("w"));
    db_.settle();
    static_cast<void>(take());
    enqueue("1");
    EXPECT_THAT(take(),
                ElementsAre("enqueued q#1 by program", "claimed q#1 attempt 1/3 by w after 0 s",
                            "batch of 2, 0 failed, 0 ms, commit 0 ms"));
}

TEST_F(ObservedBatch, TellsHowLongItTookAndTheCommitOfThat)
{
    sqlite3_commit_hook(
        handle_,
        [](void* clock) {
            static_cast<skein::testing::manual_clock*>(clock)->advance(2ms);
            return 0;
        },
        &db_.clock());
    transact([&](transaction& /*tx*/) { db_.clock().advance(3ms); });
    sqlite3_commit_hook(handle_, nullptr, nullptr);
    EXPECT_THAT(take(), ElementsAre("batch of 1, 0 failed, 5 ms, commit 2 ms"));
}

TEST_F(ObservedBatch, TellsAnnouncedFailuresAlsoWhenItsLockWasLost)
{
    other_.sql("CREATE TRIGGER refuse BEFORE INSERT ON _honker_live"
               " WHEN NEW.payload = '\"bad\"' BEGIN SELECT RAISE(ABORT, 'not this'); END");
    db_.settle();
    static_cast<void>(take());
    const auto bad = db_.start(queue_.enqueue("\"bad\""));
    const auto good = db_.start(queue_.enqueue("1"));
    // What has failed together is undone, and here somebody is quicker than its repetition.
    sqlite3_rollback_hook(
        handle_,
        [](void* other) { static_cast<support::plain_connection*>(other)->sql("BEGIN IMMEDIATE"); },
        &other_);
    db_.settle();
    sqlite3_rollback_hook(handle_, nullptr, nullptr);
    EXPECT_THAT(take(), IsEmpty());
    other_.sql("COMMIT");
    db_.advance(1ms);
    EXPECT_THAT(take(),
                ElementsAre("enqueued q#1 by program", "batch of 2, 1 failed, 0 ms, commit 0 ms",
                            "lock after 1 ms, 0 timed out"));
}

TEST_F(ObservedBatch, TellsHowLongAnotherProcessHeldTheLock)
{
    other_.sql("BEGIN IMMEDIATE");
    const auto waiting = db_.start(queue_.enqueue("1"));
    db_.settle();
    for (int each = 0; each != 10; ++each) {
        db_.advance(1ms);
    }
    EXPECT_THAT(take(), IsEmpty());
    other_.sql("COMMIT");
    db_.advance(1ms);
    EXPECT_THAT(take(),
                ElementsAre("enqueued q#1 by program", "batch of 1, 0 failed, 0 ms, commit 0 ms",
                            "lock after 11 ms, 0 timed out"));
}

TEST_F(ObservedBatch, TellsHowManyHaveGivenUpWaitingForTheLock)
{
    enqueue("0");
    static_cast<void>(take());
    other_.sql("BEGIN IMMEDIATE");
    const auto first = db_.start(queue_.enqueue("1"));
    const auto second = db_.start(queue_.enqueue("2"));
    const auto third = db_.start(queue_.claim());
    db_.settle();
    db_.advance(5s);
    EXPECT_EQ(first.error(), errc::busy);
    EXPECT_TRUE(third.has_failed());
    other_.sql("COMMIT");
    db_.advance(1ms);
    EXPECT_THAT(take(), ElementsAre("lock after 5001 ms, 3 timed out"));
}

TEST_F(ObservedBatch, IsNotNeededToRead)
{
    const auto look = [&](const SQLite::Database&) { db_.clock().advance(7ms); };
    db_.run(db_.database().read(look));
    EXPECT_FALSE(db_.run(queue_.find(5)));
    const auto fail = [](const SQLite::Database&) { throw std::runtime_error("mine"); };
    EXPECT_THROW(db_.run(db_.database().read(fail)), std::runtime_error);
    EXPECT_THAT(take(), ElementsAre("read 7 ms", "read 0 ms", "read 0 ms failed"));
}

TEST_F(ObservedBatch, ThatCannotBeginIsToldWithAllThatWaits)
{
    std::filesystem::remove(db_.path());
    const auto first = db_.start(queue_.enqueue("1"));
    const auto second = db_.start(queue_.claim());
    db_.settle();
    db_.advance(2s);
    EXPECT_EQ(first.error(), errc::file_replaced);
    EXPECT_THAT(take().front(), StartsWith("batch of 2 failed"));
}

} // namespace
