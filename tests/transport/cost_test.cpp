#include "support/manual_database.hpp"
#include "support/other_process.hpp"
#include "support/plain_connection.hpp"
#include "support/statement_cost.hpp"
#include "support/statement_counter.hpp"

#include <skein/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;
using support::manual_database;
using support::other_process;
using support::plain_connection;
using support::statement_counter;
using support::steps_of;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

/// What many groups are like, beside the few that are looked for.
void insert_groups(const manual_database& database, int count, std::string_view routing_key,
                   std::string_view lock)
{
    const std::string numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                " LIMIT " +
                                std::to_string(count) + ") ";
    const plain_connection file(database.path());
    file.sql(numbers +
             "INSERT INTO harel_transport_groups (group_id, routing_key)"
             " SELECT 'crowd' || i, " +
             std::string(routing_key) + " FROM n");
    file.sql(numbers + "INSERT INTO harel_transport_messages (group_id, event)"
                       " SELECT 'crowd' || i, 'm' FROM n");
    if (!lock.empty()) {
        file.sql("UPDATE harel_transport_messages SET locked_by = '__parked__', lock_expiry = " +
                 std::string(lock));
    }
}

class TransportCostOfUse : public ::testing::Test {
protected:
    /// The tables are there, and every statement is prepared.
    TransportCostOfUse()
    {
        for (int each = 0; each < 3; ++each) {
            database_.run(transport_.publish("warm", "m", {.priority = 4, .routing_key = "key0"}));
            auto claimed = database_.run(transport_.claim());
            database_.run(claimed.extend(1s));
            database_.run(claimed.nack(1s));
            EXPECT_FALSE(database_.run(transport_.try_claim()));
            database_.advance(2s);
            claimed = database_.run(transport_.claim());
            database_.run(claimed.ack());
        }
    }

    manual_database database_;
    skein::transport transport_ = database_.database().transport();
};

TEST_F(TransportCostOfUse, NoneOnEmptyWritesNothing)
{
    statement_counter counter(database_.handle());
    counter.reset();
    EXPECT_FALSE(database_.run(transport_.try_claim()));
    EXPECT_GE(counter.count(), 1U);
    EXPECT_LE(counter.count(), 10U);
    EXPECT_THAT(counter.statements(), Each(Not(HasSubstr("IMMEDIATE"))));
    EXPECT_THAT(counter.statements(), Each(Not(HasSubstr("UPDATE"))));
    EXPECT_THAT(counter.statements(), Each(Not(HasSubstr("DELETE"))));
}

TEST_F(TransportCostOfUse, ParkedCost)
{
    insert_groups(database_, 10'000, "NULL", "1e6");
    const plain_connection holder(database_.path());
    holder.sql("BEGIN IMMEDIATE");
    EXPECT_FALSE(database_.run(transport_.try_claim())) << "the write lock is not asked for";
    const long cost =
        steps_of(database_.handle(), [&] { EXPECT_FALSE(database_.run(transport_.try_claim())); });
    EXPECT_LT(cost, 500);
}

TEST_F(TransportCostOfUse, DeepGroupCost)
{
    const auto cost = [&](int depth) {
        const plain_connection file(database_.path());
        file.sql(
            "DELETE FROM harel_transport_messages; DELETE FROM harel_transport_groups;"
            "INSERT INTO harel_transport_groups (group_id) VALUES ('deep');"
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
            std::to_string(depth) +
            ") INSERT INTO harel_transport_messages (group_id, event) SELECT 'deep', i FROM n");
        return steps_of(database_.handle(), [&] {
            for (int each = 0; each < 5; ++each) {
                auto claimed = database_.run(transport_.claim());
                EXPECT_TRUE(database_.run(claimed.ack()));
            }
        });
    };
    const long shallow = cost(10);
    EXPECT_LE(cost(10'000), shallow + shallow / 10);
}

TEST_F(TransportCostOfUse, RoutingManyKeysCost)
{
    insert_groups(database_, 20'000, "'key' || (i % 2)", "");
    const auto cost = [&](std::vector<std::string_view> keys) {
        return steps_of(database_.handle(), [&] {
            for (int each = 0; each < 5; ++each) {
                auto claimed = database_.run(transport_.claim({.routing_keys = keys}));
                EXPECT_TRUE(database_.run(claimed.ack()));
            }
        });
    };
    EXPECT_LT(cost({"key0", "key1"}), 2 * cost({"key0"}));
}

TEST_F(TransportCostOfUse, WaitingCostsNothingWhileNothingHappens)
{
    std::vector<support::operation<message>> claims;
    for (int each = 0; each < 100; ++each) {
        claims.push_back(database_.start(transport_.claim()));
    }
    database_.settle();
    statement_counter counter(database_.handle());
    counter.reset();
    for (int each = 0; each < 100; ++each) {
        database_.advance(1ms);
    }
    EXPECT_LE(counter.count(), 101U) << "one look at the file per tick of the watch";
    EXPECT_THAT(counter.statements(), Each(HasSubstr("data_version")));
}

TEST_F(TransportCostOfUse, ManyEqualWaitersCostOneQueryPerMessage)
{
    const auto cost = [&](int waiters) {
        std::vector<support::operation<message>> claims;
        for (int each = 0; each < waiters; ++each) {
            claims.push_back(database_.start(transport_.claim()));
        }
        database_.settle();
        const long steps =
            steps_of(database_.handle(), [&] { database_.run(transport_.publish("g", "m")); });
        EXPECT_TRUE(claims.front().is_done());
        EXPECT_FALSE(claims.back().is_done());
        for (auto& each : claims) {
            each.cancel();
        }
        database_.settle();
        database_.run(transport_.ack(claims.front().result().detach()));
        return steps;
    };
    const long few = cost(2);
    EXPECT_LE(cost(1'000), few + few / 10);
}

class TransportUnderLock : public ::testing::Test {
protected:
    TransportUnderLock()
    {
        database_.run(transport_.publish("g", "m"));
        holder_.emplace(database_.path());
        holder_->lock();
    }

    manual_database database_;
    skein::transport transport_ = database_.database().transport();
    std::optional<other_process> holder_;
};

TEST_F(TransportUnderLock, ClockAfterLock)
{
    auto claim = database_.start(transport_.claim({.visibility = 1s}));
    database_.settle();
    database_.advance(1500ms);
    EXPECT_FALSE(claim.is_done());
    holder_->unlock();
    database_.advance(10ms);
    ASSERT_TRUE(claim.is_done());
    const auto left = claim.result().expires_at() - database_.clock().wall_now();
    EXPECT_GE(left, 900ms) << "the lease was counted from before the wait for the lock";
}

TEST_F(TransportUnderLock, AnAckThatDrainsItsGroupSeesWhatWasPublishedWhileItWaited)
{
    holder_->unlock();
    auto claimed = database_.run(transport_.claim());
    holder_->sql("BEGIN IMMEDIATE; INSERT INTO harel_transport_messages (group_id, event)"
                 " VALUES ('g', 'second'); INSERT OR IGNORE INTO harel_transport_groups (group_id)"
                 " VALUES ('g')");
    auto ack = database_.start(claimed.ack());
    database_.settle();
    EXPECT_FALSE(ack.is_done());
    holder_->sql("COMMIT");
    auto next = database_.start(transport_.claim());
    database_.advance(10ms);
    database_.advance(10ms);
    EXPECT_TRUE(ack.result());
    ASSERT_TRUE(next.is_done());
    EXPECT_EQ(next.result().payload(), "second");
}

TEST_F(TransportUnderLock, BusyTimeout)
{
    auto publish = database_.start(transport_.publish("h", "m"));
    auto claim = database_.start(transport_.try_claim());
    database_.settle();
    for (int each = 0; each < 4'990; each += 10) {
        database_.advance(10ms);
    }
    EXPECT_FALSE(publish.is_done());
    EXPECT_FALSE(claim.is_done());
    database_.advance(20ms);
    database_.advance(20ms);
    EXPECT_EQ(publish.error(), make_error_code(errc::busy));
    EXPECT_EQ(claim.error(), make_error_code(errc::busy));
    holder_->unlock();
    const plain_connection file(database_.path());
    EXPECT_EQ(file.value("SELECT count(*) FROM harel_transport_groups"), "1");
    EXPECT_EQ(file.value("SELECT count(*) FROM harel_transport_messages"
                         " WHERE locked_by IS NULL"),
              "1");
    database_.run(transport_.publish("h", "m"));
}

TEST_F(TransportUnderLock, BusyErrorsCanBeTriedAgain)
{
    auto publish = database_.start(transport_.publish("h", "m"));
    database_.settle();
    for (int each = 0; each < 6'000; each += 100) {
        database_.advance(100ms);
    }
    try {
        publish.result();
        ADD_FAILURE() << "published under another's lock";
    } catch (const error& refused) {
        EXPECT_TRUE(refused.is_retryable());
        EXPECT_EQ(refused.sqlite_code() & 0xff, 5);
        EXPECT_THAT(refused.what(), HasSubstr(database_.path().string()));
    }
}

TEST_F(TransportUnderLock, AReleaseWaitsForTheLockToo)
{
    holder_->unlock();
    {
        const message dropped = database_.run(transport_.claim());
        holder_->lock();
    }
    database_.settle();
    database_.advance(2s);
    holder_->unlock();
    auto claim = database_.start(transport_.claim());
    database_.advance(10ms);
    database_.advance(10ms);
    EXPECT_TRUE(claim.is_done());
}

TEST_F(TransportUnderLock, AKilledHolderLetsGo)
{
    auto publish = database_.start(transport_.publish("h", "m"));
    database_.settle();
    database_.advance(100ms);
    EXPECT_FALSE(publish.is_done());
    holder_->kill();
    database_.advance(10ms);
    EXPECT_TRUE(publish.is_done());
    EXPECT_FALSE(publish.has_failed());
}

} // namespace
