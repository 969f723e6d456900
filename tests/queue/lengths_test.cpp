#include "queue/queue_fixture.hpp"

#include <asio/steady_timer.hpp>

#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using std::chrono::seconds;
using ::testing::HasSubstr;

/// Lengths of time at the edge of what can be said.
const seconds long_lengths[] = {std::chrono::years{200}, seconds{INT64_MAX - 100}, seconds::max()};
const seconds short_lengths[] = {0s, -1s, -std::chrono::years{200}, seconds::min()};

class QueueLengths : public support::queue_fixture {
protected:
    template <class Function>
    static void expect_refused(Function&& function)
    {
        try {
            function();
            ADD_FAILURE() << "accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
            EXPECT_THAT(refused.what(), HasSubstr("visibility"));
        }
    }

    void expect_waiting_ends()
    {
        auto waiting = db_.start(queue_.claim_within(5s));
        db_.settle();
        db_.advance(5s);
        EXPECT_TRUE(waiting.is_done());
        EXPECT_FALSE(waiting.result());
    }
};

TEST_F(QueueLengths, ADelayMayBeAsLongAsOneLikes)
{
    for (const seconds delay : long_lengths) {
        const std::int64_t id = enqueue("null", {.delay = delay});
        EXPECT_EQ(state_of(id), "scheduled") << delay.count();
        expect_waiting_ends();
    }
    enqueue("null", {.run_at = clock::wall_time::max()});
    expect_waiting_ends();
}

TEST_F(QueueLengths, ADelayThatIsNotPositiveMeansAtOnce)
{
    for (const seconds delay : short_lengths) {
        enqueue("null", {.delay = delay});
        job claimed = claim();
        EXPECT_TRUE(db_.run(claimed.ack())) << delay.count();
    }
    enqueue("null", {.run_at = clock::wall_time::min()});
    EXPECT_TRUE(claim());
}

TEST_F(QueueLengths, AnExpiryMayBeAsFarAsOneLikes)
{
    for (const seconds length : long_lengths) {
        enqueue("null", {.expires_in = length});
        job claimed = claim();
        EXPECT_TRUE(db_.run(claimed.ack())) << length.count();
    }
}

TEST_F(QueueLengths, WhatExpiresAtOnceIsDeadAtOnce)
{
    for (const seconds length : short_lengths) {
        const std::int64_t id = enqueue("null", {.expires_in = length});
        EXPECT_FALSE(db_.run(queue_.try_claim()));
        EXPECT_EQ(state_of(id), "dead: expired") << length.count();
    }
}

TEST_F(QueueLengths, ALeaseMayBeAsLongAsOneLikes)
{
    for (const seconds length : long_lengths) {
        enqueue();
        job claimed = claim({.visibility = length});
        EXPECT_GT(claimed.expires_at(), clock::wall_time(std::chrono::years{100}));
        expect_waiting_ends();
        EXPECT_TRUE(db_.run(claimed.extend(length)));
        EXPECT_GT(claimed.expires_at(), clock::wall_time(std::chrono::years{100}));
        expect_waiting_ends();
        EXPECT_TRUE(db_.run(claimed.ack())) << length.count();
    }
}

TEST_F(QueueLengths, ALeaseOfNoLengthHoldsInItsSecond)
{
    enqueue();
    job first = claim({.visibility = 0s});
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    db_.advance(1s);
    job second = claim();
    EXPECT_FALSE(db_.run(first.ack()));
    EXPECT_TRUE(db_.run(second.ack()));
}

TEST_F(QueueLengths, ANegativeLeaseIsToldAtTheCall)
{
    enqueue();
    job claimed = claim();
    const std::vector<job> none;
    for (const seconds length : {-1s, seconds(-std::chrono::years{200}), seconds::min()}) {
        expect_refused(
            [&] { static_cast<void>(db_.database().queue("x", {.visibility = length})); });
        expect_refused([&] { static_cast<void>(queue_.claim({.visibility = length})); });
        expect_refused([&] { static_cast<void>(queue_.claim_many(3, {.visibility = length})); });
        expect_refused([&] { static_cast<void>(claimed.extend(length)); });
        expect_refused([&] { static_cast<void>(queue_.extend({}, length)); });
        expect_refused([&] { static_cast<void>(queue_.extend_many(none, length)); });
    }
    EXPECT_EQ(claimed.expires_at(), db_.clock().wall_now() + 5min) << "the lease is as it was";
}

TEST_F(QueueLengths, ARetryOrSnoozeMayBeAsLongAsOneLikes)
{
    for (const seconds length : long_lengths) {
        const std::int64_t id = enqueue();
        job claimed = claim();
        EXPECT_EQ(db_.run(claimed.retry(length)), retry_outcome::waiting);
        EXPECT_EQ(state_of(id), "scheduled");
        enqueue();
        claimed = claim();
        EXPECT_TRUE(db_.run(claimed.snooze(length)));
        expect_waiting_ends();
    }
}

TEST_F(QueueLengths, ARetryOrSnoozeThatIsNotPositiveIsAtOnce)
{
    for (const seconds length : short_lengths) {
        enqueue();
        job claimed = claim();
        EXPECT_EQ(db_.run(claimed.retry(length)), retry_outcome::waiting);
        claimed = claim();
        EXPECT_TRUE(db_.run(claimed.snooze(length)));
        claimed = claim();
        EXPECT_TRUE(db_.run(claimed.ack())) << length.count();
    }
}

TEST_F(QueueLengths, MostIsOneToAThousand)
{
    for (const std::size_t most : {std::size_t{0}, std::size_t{1001}, SIZE_MAX}) {
        EXPECT_THROW(static_cast<void>(queue_.claim_many(most)), error);
        EXPECT_THROW(static_cast<void>(queue_.try_claim_many(most)), error);
        EXPECT_THROW(static_cast<void>(queue_.claim_many_within(1s, most)), error);
    }
    const std::vector<new_job> jobs(1500, new_job{"null"});
    db_.run(queue_.enqueue_many(jobs));
    EXPECT_EQ(db_.run(queue_.claim_many(1000)).size(), 1000U);
}

TEST_F(QueueLengths, PrioritiesAreOfSixtyFourBits)
{
    enqueue("1", {.priority = INT64_MIN});
    enqueue("2", {.priority = INT64_MAX});
    EXPECT_EQ(claim().payload(), "2");
}

} // namespace
