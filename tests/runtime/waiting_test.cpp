#include "runtime/running_queue.hpp"

#include "support/other_process.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace {

using namespace std::chrono_literals;
using skein::message;
using skein::support::operation;
using skein::support::statement_counter;
using claims = std::vector<operation<message>>;

std::size_t done(const claims& started)
{
    return static_cast<std::size_t>(std::count_if(started.begin(), started.end(),
                                                  [](const auto& each) { return each.is_done(); }));
}

std::chrono::system_clock::time_point epoch(std::chrono::seconds seconds)
{
    return std::chrono::system_clock::time_point(seconds);
}

class Waiting : public skein::support::running_queue {
protected:
    claims start_claims(int count)
    {
        claims started;
        for (int each = 0; each < count; ++each) {
            started.push_back(start_claim());
        }
        db_.settle();
        return started;
    }

    /// Another program publishes a message and leases it until `end`.
    void leave_leased_until(std::chrono::seconds end)
    {
        other_.sql("BEGIN IMMEDIATE; INSERT INTO harel_transport_groups (group_id) VALUES ('g');"
                   " INSERT INTO harel_transport_messages (group_id, event) VALUES ('g', 'm');"
                   " UPDATE harel_transport_messages SET locked_by = 'dead#1', lock_expiry = " +
                   std::to_string(end.count()) + "; COMMIT");
    }
};

TEST_F(Waiting, OfTenThousandIsWokenOnceForOneMessage)
{
    claims waiting = start_claims(10'000);
    EXPECT_EQ(done(waiting), 0u);
    statement_counter statements(handle_);
    publish("m");
    EXPECT_EQ(done(waiting), 1u);
    EXPECT_TRUE(waiting.front().is_done());
    EXPECT_LE(statements.count(), 60u);
    EXPECT_EQ(statements.count("COMMIT"), 1u) << "the claim was not in the batch of the publish";
}

TEST_F(Waiting, OfTenThousandCostsAFewStatementsWhenAnotherProcessCommits)
{
    claims waiting = start_claims(10'000);
    statement_counter statements(handle_);
    other_.sql("INSERT INTO t VALUES (1)");
    db_.advance(1ms);
    EXPECT_EQ(done(waiting), 0u);
    EXPECT_LE(statements.count(), 20u);
}

TEST_F(Waiting, CostsNoStatementWhileNothingHappensButTheQuestionWhetherSomethingHas)
{
    claims waiting = start_claims(100);
    statement_counter statements(handle_);
    for (int each = 0; each < 100; ++each) {
        db_.advance(1ms);
    }
    EXPECT_EQ(statements.count(), statements.count("PRAGMA data_version"));
}

TEST_F(Waiting, ForAHighPriorityDoesNotKeepALaterOneFromItsMessage)
{
    skein::claim_options high;
    high.min_priority = 4;
    const auto first = start_claim(high);
    db_.settle();
    auto second = start_claim();
    db_.settle();
    publish("low");
    EXPECT_FALSE(first.is_done());
    ASSERT_TRUE(second.is_done());
    EXPECT_EQ(second.result().payload(), "low");
}

TEST_F(Waiting, ForARoutingKeyDoesNotKeepALaterOneFromItsMessage)
{
    const std::vector<std::string_view> keys{"red", "green"};
    const std::vector<std::string_view> none;
    skein::claim_options choosy;
    choosy.routing_keys = keys;
    const auto first = start_claim(choosy);
    choosy.routing_keys = none;
    const auto second = start_claim(choosy);
    db_.settle();
    auto third = start_claim();
    db_.settle();
    skein::publish_options blue;
    blue.routing_key = "blue";
    db_.run(queue_.publish("g", "m", blue));
    EXPECT_FALSE(first.is_done());
    EXPECT_FALSE(second.is_done());
    EXPECT_TRUE(third.is_done());
}

TEST_F(Waiting, ForARoutingKeyEndsWhenAMessageOfThatKeyComes)
{
    const std::vector<std::string_view> keys{"red", "green"};
    skein::claim_options choosy;
    choosy.routing_keys = keys;
    auto waiting = start_claim(choosy);
    db_.settle();
    skein::publish_options options;
    options.routing_key = "blue";
    db_.run(queue_.publish("b", "blue", options));
    EXPECT_FALSE(waiting.is_done());
    options.routing_key = "green";
    db_.run(queue_.publish("g", "green", options));
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "green");
}

TEST_F(Waiting, OfAHundredAndFiftyIsWokenAHundredTimesForAHundredMessages)
{
    claims waiting = start_claims(150);
    std::vector<operation<void>> publishers;
    for (int each = 0; each < 100; ++each) {
        publishers.push_back(start_publish("m", std::to_string(each)));
    }
    db_.settle();
    EXPECT_EQ(done(waiting), 100u);
    EXPECT_TRUE(std::all_of(waiting.begin(), waiting.begin() + 100,
                            [](const auto& each) { return each.is_done(); }));
}

TEST_F(Waiting, IsWokenForEveryMessageOfOneForeignCommit)
{
    claims waiting = start_claims(10);
    other_.sql("BEGIN; INSERT INTO harel_transport_groups (group_id) VALUES ('a'), ('b'), ('c');"
               " INSERT INTO harel_transport_messages (group_id, event) VALUES"
               " ('a', '1'), ('b', '2'), ('c', '3'); COMMIT");
    db_.advance(1ms);
    EXPECT_EQ(done(waiting), 3u);
}

TEST_F(Waiting, IsServedInTheOrderOfArrival)
{
    claims waiting = start_claims(5);
    for (std::size_t each = 0; each < waiting.size(); ++each) {
        EXPECT_FALSE(waiting[each].is_done());
        publish("m", std::to_string(each));
        EXPECT_TRUE(waiting[each].is_done());
    }
}

TEST_F(Waiting, KeepsItsPlaceInTheLineWhenItIsOvertakenInAnother)
{
    skein::claim_options medium;
    medium.min_priority = 2;
    auto first = start_claim(medium);
    auto second = start_claim();
    auto third = start_claim(medium);
    db_.settle();
    publish("low", "low");
    skein::publish_options priority;
    priority.priority = 3;
    db_.run(queue_.publish("high", "high", priority));
    EXPECT_TRUE(first.is_done());
    EXPECT_TRUE(second.is_done());
    EXPECT_FALSE(third.is_done());
}

TEST_F(Waiting, EndsWhenAnotherProcessCommits)
{
    auto waiting = start_claim();
    db_.settle();
    skein::support::other_process process(db_.path());
    process.sql("BEGIN IMMEDIATE; INSERT INTO harel_transport_groups (group_id) VALUES ('g');"
                " INSERT INTO harel_transport_messages (group_id, event) VALUES ('g', 'm')");
    db_.advance(1ms);
    EXPECT_FALSE(waiting.is_done());
    process.sql("COMMIT");
    db_.advance(1ms);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "m");
}

TEST_F(Waiting, SeesAForeignCommitThatIsFollowedByOneOfOurs)
{
    auto waiting = start_claim();
    db_.settle();
    other_.sql("BEGIN; INSERT INTO harel_transport_groups (group_id) VALUES ('g');"
               " INSERT INTO harel_transport_messages (group_id, event) VALUES ('g', 'm'); COMMIT");
    skein::transport_options elsewhere;
    elsewhere.prefix = "elsewhere";
    db_.run(db_.database().transport(elsewhere).publish("g", "not for the waiter"));
    db_.advance(1ms);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "m");
}

TEST_F(Waiting, EndsWhenAParkedMessageFallsDue)
{
    publish("m");
    auto message = db_.run(queue_.claim());
    EXPECT_TRUE(db_.run(message.nack(10s)));
    auto waiting = start_claim();
    db_.settle();
    db_.advance(9900ms);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(101ms);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Waiting, EndsWhenTheLeaseOfADeadWorkerEnds)
{
    leave_leased_until(130s);
    auto waiting = start_claim();
    db_.settle();
    db_.advance(29s);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1s);
    EXPECT_FALSE(waiting.is_done()) << "a lease holds at its very end";
    db_.advance(1ms);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Waiting, EndsWhenALeaseThatWasTakenMeanwhileEnds)
{
    auto waiting = start_claim();
    db_.settle();
    leave_leased_until(130s);
    db_.advance(1ms);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(30s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Waiting, EndsWhenALeaseWasCutShort)
{
    leave_leased_until(1000s);
    auto waiting = start_claim();
    db_.settle();
    other_.sql("UPDATE harel_transport_messages SET lock_expiry = 110");
    db_.advance(1ms);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(10s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Waiting, OutlastsALeaseThatIsExtended)
{
    publish("m");
    auto message = db_.run(queue_.claim());
    auto waiting = start_claim();
    db_.settle();
    db_.advance(29s);
    EXPECT_TRUE(db_.run(message.extend(30s)));
    db_.advance(29s);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(2s);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Waiting, NoticesWithinAMinuteThatTheWallClockHasSteppedForward)
{
    leave_leased_until(100'000s);
    auto waiting = start_claim();
    db_.settle();
    db_.clock().set_wall(epoch(200'000s));
    for (int each = 0; each < 61; ++each) {
        db_.advance(1s);
    }
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Waiting, FreesNoLeaseEarlyWhenTheWallClockHasSteppedBack)
{
    leave_leased_until(130s);
    auto waiting = start_claim();
    db_.settle();
    db_.clock().set_wall(epoch(50s));
    for (int each = 0; each < 79; ++each) {
        db_.advance(1s);
        EXPECT_FALSE(waiting.is_done());
    }
    for (int each = 0; each < 61; ++each) {
        db_.advance(1s);
    }
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Waiting, EndsWithNothingWhenItsLimitHasPassed)
{
    auto waiting = db_.start(queue_.claim_within(5s));
    db_.settle();
    db_.clock().set_wall(epoch(1'000'000s)); // a limit is not of the wall clock
    db_.advance(4999ms);
    EXPECT_FALSE(waiting.is_done());
    db_.advance(1ms);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_FALSE(waiting.result());
}

TEST_F(Waiting, WithALimitGetsAMessageThatComesInTime)
{
    auto waiting = db_.start(queue_.claim_within(5s));
    db_.settle();
    db_.advance(4999ms);
    publish("m");
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result()->payload(), "m");
}

TEST_F(Waiting, WithALimitLeavesTheLineToTheOthers)
{
    auto brief = db_.start(queue_.claim_within(1s));
    db_.settle();
    auto patient = start_claim();
    db_.settle();
    db_.advance(2s);
    EXPECT_TRUE(brief.is_done());
    EXPECT_FALSE(patient.is_done());
    publish("m");
    EXPECT_TRUE(patient.is_done());
}

TEST_F(Waiting, WithTheLongestLimitHasNone)
{
    auto longest = db_.start(queue_.claim_within(skein::duration::max()));
    auto nanoseconds = db_.start(queue_.claim_within(std::chrono::nanoseconds::max()));
    auto hours = db_.start(queue_.claim_within(std::chrono::hours::max()));
    db_.settle();
    db_.advance(24h * 365);
    EXPECT_FALSE(longest.is_done());
    EXPECT_FALSE(nanoseconds.is_done());
    EXPECT_FALSE(hours.is_done());
}

TEST_F(Waiting, WithoutALimitToSpeakOfIsNotWaiting)
{
    for (const auto limit : {skein::duration(0), skein::duration(-1), skein::duration(-1e300)}) {
        EXPECT_FALSE(db_.run(queue_.claim_within(limit)));
    }
    publish("m");
    EXPECT_TRUE(db_.run(queue_.claim_within(0s)));
}

TEST_F(Waiting, OnTwoTransportsIsIndependent)
{
    skein::transport_options elsewhere;
    elsewhere.prefix = "elsewhere";
    const skein::transport second = db_.database().transport(elsewhere);
    auto here = start_claim();
    auto there = db_.start(second.claim());
    db_.settle();
    db_.run(second.publish("g", "there"));
    EXPECT_FALSE(here.is_done());
    EXPECT_TRUE(there.is_done());
}

} // namespace
