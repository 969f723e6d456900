#include "runtime/running_queue.hpp"

#include <sqlite3.h>

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
