#include "queue/queue_fixture.hpp"

#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::HasSubstr;

class QueueChoice : public support::queue_fixture {
protected:
    static void expect_refused(const std::vector<queue>& queues, const char* said)
    {
        try {
            const queue_choice refused(queues);
            ADD_FAILURE() << said;
        } catch (const error& misuse) {
            EXPECT_EQ(misuse.code(), errc::invalid_argument);
            EXPECT_THAT(misuse.what(), HasSubstr(said));
        }
    }

    skein::queue urgent_ = db_.database().queue("urgent", {.visibility = 7s});
    queue_choice choice_{urgent_, queue_};
};

TEST_F(QueueChoice, PrefersTheFirstQueueWhateverThePriorities)
{
    enqueue("1", {.priority = 100});
    db_.run(urgent_.enqueue("2"));
    const job first = db_.run(choice_.claim());
    EXPECT_EQ(first.payload(), "2");
    EXPECT_EQ(first.queue(), "urgent");
    const job second = db_.run(choice_.claim());
    EXPECT_EQ(second.payload(), "1");
    EXPECT_EQ(second.queue(), "q");
    EXPECT_FALSE(db_.run(choice_.try_claim()));
}

TEST_F(QueueChoice, FillsUpFromTheLaterQueues)
{
    enqueue("1");
    enqueue("2");
    db_.run(urgent_.enqueue("3"));
    std::vector<job> claimed = db_.run(choice_.claim_many(2));
    ASSERT_EQ(claimed.size(), 2U);
    EXPECT_EQ(claimed[0].payload(), "3");
    EXPECT_EQ(claimed[1].payload(), "1");
}

TEST_F(QueueChoice, WaitsForAllOfThemAtOnce)
{
    for (const skein::queue& each : {queue_, urgent_}) {
        auto waiting = db_.start(choice_.claim());
        db_.settle();
        EXPECT_FALSE(waiting.is_done());
        db_.run(each.enqueue("1"));
        ASSERT_TRUE(waiting.is_done());
        EXPECT_EQ(waiting.result().queue(), each.name());
        std::optional<job> again = db_.run(each.claim_within(0s));
        EXPECT_TRUE(db_.run(again->ack()));
    }
}

TEST_F(QueueChoice, LeasesForTheTimeOfTheJobsOwnQueue)
{
    enqueue();
    db_.run(urgent_.enqueue("1"));
    const clock::wall_time now = db_.clock().wall_now();
    const job first = db_.run(choice_.claim());
    const job second = db_.run(choice_.claim());
    EXPECT_EQ(first.expires_at(), now + 7s);
    EXPECT_EQ(second.expires_at(), now + 5min);
}

TEST_F(QueueChoice, WakesWhenAJobOfAnyOfThemFallsDue)
{
    auto waiting = db_.start(choice_.claim());
    db_.run(urgent_.enqueue("1", {.delay = 1h}));
    enqueue("2", {.delay = 10s});
    db_.settle();
    db_.advance(10s);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "2");
}

TEST_F(QueueChoice, WakesWhenALeaseOfAnyOfThemLapses)
{
    db_.run(urgent_.enqueue("1"));
    const job held = db_.run(urgent_.claim());
    auto waiting = db_.start(choice_.claim_within(1h));
    db_.settle();
    db_.advance(8s);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result()->attempt(), 2);
}

TEST_F(QueueChoice, SharesAQueueWithThoseWhoWaitForItAlone)
{
    auto choosy = db_.start(urgent_.claim());
    auto open = db_.start(choice_.claim());
    db_.settle();
    const std::vector<new_job> jobs{{"1"}, {"2"}};
    db_.run(urgent_.enqueue_many(jobs));
    EXPECT_TRUE(choosy.is_done());
    EXPECT_TRUE(open.is_done());
}

TEST_F(QueueChoice, ReturnsNothingWhenTheLimitHasPassed)
{
    auto waiting = db_.start(choice_.claim_within(10s, "w"));
    auto many = db_.start(choice_.claim_many_within(10s, 2));
    db_.settle();
    db_.advance(10s);
    EXPECT_FALSE(waiting.result());
    EXPECT_THAT(many.result(), ::testing::IsEmpty());
    EXPECT_FALSE(db_.run(choice_.try_claim("w")));
    EXPECT_THAT(db_.run(choice_.try_claim_many(2)), ::testing::IsEmpty());
}

TEST_F(QueueChoice, RefusesWhatIsNoChoice)
{
    expect_refused({}, "0 of them");
    expect_refused({queue_, urgent_, queue_}, "'q' is there twice");
    expect_refused(std::vector<queue>(101, queue_), "101 of them");
    const support::manual_database other;
    expect_refused({queue_, const_cast<support::manual_database&>(other).database().queue("x")},
                   "'x' is of another database");
}

TEST_F(QueueChoice, TellsNamesApartThatLookAlike)
{
    const skein::queue odd = db_.database().queue("a/1:b");
    const skein::queue a = db_.database().queue("a");
    const skein::queue b = db_.database().queue("b");
    auto waiting = db_.start(queue_choice{a, b}.claim());
    auto other = db_.start(queue_choice{odd}.claim());
    db_.settle();
    db_.run(odd.enqueue("1"));
    EXPECT_FALSE(waiting.is_done());
    EXPECT_EQ(other.result().payload(), "1");
    db_.run(b.enqueue("2"));
    EXPECT_EQ(waiting.result().payload(), "2");
}

} // namespace
