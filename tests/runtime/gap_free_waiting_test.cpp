#include "runtime/running_queue.hpp"

#include <sqlite3.h>

#include <array>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using skein::message;
using skein::support::operation;
using skein::support::statement_counter;

/// Between "found nothing" and "waits" another connection may commit. Every boundary between two
/// statements of the claim is tried.
class GapFreeWaiting : public skein::support::running_queue {
protected:
    GapFreeWaiting() { sqlite3_busy_timeout(other_.handle(), 0); }

    /// Commits a message from the other connection, unless the write lock is held.
    bool insert() const
    {
        const char* sql =
            "BEGIN IMMEDIATE;"
            " INSERT INTO harel_transport_groups (group_id, priority) VALUES ('g', 4);"
            " INSERT INTO harel_transport_messages (group_id, event)"
            " VALUES ('g', 'm'); COMMIT";
        return sqlite3_exec(other_.handle(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    }

    /// Runs `step`; the message is committed after the statement of that number. Returns whether
    /// there was one.
    bool commit_after_statement(int number, const std::function<void()>& step)
    {
        int finished = 0;
        bool is_due = false;
        bool is_inserted = false;
        statement_counter statements(handle_);
        statements.when_finished("", [&] {
            is_due = is_due || finished++ == number;
            is_inserted = is_inserted || (is_due && insert());
        });
        step();
        return is_inserted;
    }

    void expect_served(operation<message>& claim, int boundary)
    {
        for (int each = 0; each < 3; ++each) {
            db_.advance(1ms);
        }
        EXPECT_TRUE(claim.is_done()) << "missed the commit after statement " << boundary;
        if (claim.is_done()) {
            auto served = claim.result();
            EXPECT_TRUE(db_.run(served.ack()));
        } else {
            claim.cancel();
            peek();
            other_.sql("DELETE FROM harel_transport_messages; DELETE FROM harel_transport_groups");
        }
        db_.settle();
    }
};

TEST_F(GapFreeWaiting, HoldsWhileAClaimBeginsToWait)
{
    int boundary = 0;
    bool is_inserted = true;
    while (is_inserted) {
        std::optional<operation<message>> claim;
        is_inserted = commit_after_statement(boundary, [&] {
            claim.emplace(start_claim());
            db_.settle();
        });
        if (is_inserted) {
            expect_served(*claim, boundary++);
        }
    }
    EXPECT_GE(boundary, 3) << "fewer statements than a claim has";
}

TEST_F(GapFreeWaiting, HoldsWhileAWokenClaimFindsNothing)
{
    int boundary = 0;
    bool is_inserted = true;
    while (is_inserted) {
        auto claim = start_claim();
        db_.settle();
        other_.sql("INSERT INTO t VALUES (" + std::to_string(boundary) + ")");
        is_inserted = commit_after_statement(boundary, [&] { db_.advance(1ms); });
        if (is_inserted) {
            expect_served(claim, boundary++);
        }
    }
    EXPECT_GE(boundary, 3);
}

TEST_F(GapFreeWaiting, HoldsWhileAnotherOneIsServed)
{
    int boundary = 0;
    bool is_inserted = true;
    while (is_inserted) {
        skein::claim_options high;
        high.min_priority = 4;
        auto claim = start_claim(high);
        db_.settle();
        std::optional<operation<std::optional<message>>> neighbour;
        is_inserted = commit_after_statement(boundary, [&] {
            neighbour.emplace(db_.start(queue_.try_claim()));
            db_.settle();
        });
        neighbour.reset();
        db_.settle();
        if (is_inserted) {
            expect_served(claim, boundary++);
        }
    }
    EXPECT_GE(boundary, 2);
}

/// Time passes too: a lease may end between any two statements of what others do.
class GapFreeTime : public skein::support::running_queue {
protected:
    /// Leases a message of this key for 10 s, and lets go of the handle.
    void lease(std::string_view key)
    {
        finish(queue_.publish(key, "leased", {.routing_key = key}));
        const std::array keys{key};
        message leased = finish(queue_.claim({.routing_keys = keys, .visibility = 10s}));
        static_cast<void>(leased.detach());
    }

    operation<message> start_claim_of(std::string_view key)
    {
        const std::array keys{key};
        auto claim = start_claim({.routing_keys = keys});
        db_.settle();
        return claim;
    }

    /// Publishes; after the statement of that number the clock steps past the lease's end. Returns
    /// whether there was such a statement.
    bool publish_while_time_passes(std::string_view key, int number)
    {
        int finished = 0;
        bool has_stepped = false;
        statement_counter statements(handle_);
        statements.when_finished("", [&] {
            if (finished++ == number) {
                has_stepped = true;
                db_.clock().advance(11s);
            }
        });
        const auto publish = db_.start(queue_.publish(key, "new", {.routing_key = key}));
        db_.settle();
        return has_stepped;
    }

    void expect_served(operation<message>& claim, int boundary)
    {
        db_.advance(1ms);
        db_.advance(1ms);
        ASSERT_TRUE(claim.is_done()) << "missed the end of a lease after statement " << boundary;
        message served = claim.result();
        EXPECT_EQ(served.payload(), "leased");
        EXPECT_TRUE(db_.run(served.ack()));
    }

    void drain()
    {
        while (auto left = finish(queue_.try_claim())) {
            EXPECT_TRUE(db_.run(left->ack()));
        }
    }
};

TEST_F(GapFreeTime, HoldsWhileTheSameGroupIsPublishedTo)
{
    bool has_stepped = true;
    int boundary = 0;
    while (has_stepped && !HasFatalFailure()) {
        lease("g");
        auto claim = start_claim_of("g");
        has_stepped = publish_while_time_passes("g", boundary);
        db_.advance(has_stepped ? 0s : 11s);
        expect_served(claim, boundary++);
        drain();
    }
    EXPECT_GE(boundary, 5) << "fewer statements than a publish has";
}

TEST_F(GapFreeTime, HoldsWhileAnotherLineIsServed)
{
    bool has_stepped = true;
    int boundary = 0;
    while (has_stepped && !HasFatalFailure()) {
        lease("a");
        auto claim = start_claim_of("a");
        auto neighbour = start_claim_of("b");
        has_stepped = publish_while_time_passes("b", boundary);
        db_.advance(has_stepped ? 0s : 11s);
        expect_served(claim, boundary++);
        EXPECT_TRUE(neighbour.is_done());
        EXPECT_TRUE(db_.run(neighbour.result().ack()));
        drain();
    }
    EXPECT_GE(boundary, 8) << "fewer statements than a publish and a claim have";
}

TEST_F(GapFreeWaiting, HoldsWhileAPublishRuns)
{
    int boundary = 0;
    bool is_inserted = true;
    while (is_inserted) {
        skein::claim_options high;
        high.min_priority = 4;
        auto claim = start_claim(high);
        db_.settle();
        is_inserted = commit_after_statement(boundary, [&] {
            const auto low = start_publish("low", "other" + std::to_string(boundary));
            db_.settle();
        });
        if (is_inserted) {
            expect_served(claim, boundary++);
        }
    }
    EXPECT_GE(boundary, 2);
}

} // namespace
