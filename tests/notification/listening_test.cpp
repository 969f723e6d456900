#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/statement_counter.hpp"

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <asio/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using support::operation;
using support::statement_counter;
using ::testing::ElementsAre;

class Listening : public ::testing::Test {
protected:
    listener listen(std::string_view channel = "orders")
    {
        return db_.run(db_.database().listen(channel));
    }

    std::int64_t notify(std::string_view payload, std::string_view channel = "orders")
    {
        return db_.run(db_.database().notify(channel, payload));
    }

    /// The payloads of all that is there for a listener.
    std::vector<std::string> drain(listener& inbox)
    {
        std::vector<std::string> all;
        while (auto note = db_.run(inbox.try_next())) {
            all.push_back(note->payload);
        }
        return all;
    }

    manual_database db_;
};

TEST_F(Listening, BringsWhatIsCommittedAfterIt)
{
    notify("0");
    listener inbox = listen();
    const std::int64_t id = notify(R"({"order": 7})");
    const notification note = db_.run(inbox.next());
    EXPECT_EQ(note.id, id);
    EXPECT_EQ(note.payload, R"({"order": 7})");
    EXPECT_EQ(note.created_at.time_since_epoch(), 100s);
    EXPECT_FALSE(db_.run(inbox.try_next()));
}

TEST_F(Listening, ResumesWhoWaits)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    EXPECT_FALSE(wait.is_done());
    notify("1");
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().payload, "1");
}

TEST_F(Listening, KeepsTheOrder)
{
    listener inbox = listen();
    for (int i = 0; i < 250; ++i) {
        notify(std::to_string(i));
    }
    const std::vector<std::string> all = drain(inbox);
    ASSERT_EQ(all.size(), 250U);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i], std::to_string(i));
    }
}

TEST_F(Listening, IsToldThatItHasLagged)
{
    listener inbox = listen();
    for (int i = 0; i < 5; ++i) {
        notify(std::to_string(i));
    }
    EXPECT_EQ(db_.run(db_.database().prune_notifications({.keep = 2})), 3U);
    try {
        db_.run(inbox.next());
        ADD_FAILURE() << "not told";
    } catch (const lagged& told) {
        EXPECT_EQ(told.first(), 1);
        EXPECT_EQ(told.last(), 3);
    }
    EXPECT_THAT(drain(inbox), ElementsAre("3", "4"));
}

TEST_F(Listening, IsPrunedInSlicesThatWalkPastWhatStaysOnce)
{
    const auto notify_many = [&](transaction& tx) {
        for (int i = 0; i < 1200; ++i) {
            db_.database().notify(tx, "orders", "1");
        }
    };
    db_.run(db_.database().transaction(notify_many));
    const statement_counter statements(db_.handle());
    EXPECT_EQ(db_.run(db_.database().prune_notifications({.keep = 100})), 1100U);
    EXPECT_EQ(statements.count("COMMIT"), 3U);
    EXPECT_EQ(statements.count("LIMIT 1 OFFSET"), 1U);
}

TEST_F(Listening, OneQueryServesAThousandListeners)
{
    std::vector<listener> inboxes;
    std::vector<operation<notification>> waits;
    for (int i = 0; i < 1000; ++i) {
        inboxes.push_back(listen());
        waits.push_back(db_.start(inboxes.back().next()));
    }
    db_.settle();
    const statement_counter counter(db_.handle());
    db_.advance(10s);
    notify("1");
    for (auto& each : waits) {
        ASSERT_TRUE(each.is_done());
        EXPECT_EQ(each.result().payload, "1");
    }
    EXPECT_EQ(counter.count("FROM _honker_notifications"), 1U);
}

TEST_F(Listening, ACancelledWaitLosesNothing)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    auto notify = db_.start(db_.database().notify("orders", "1"));
    wait.cancel();
    db_.settle();
    EXPECT_EQ(wait.error(), asio::error::operation_aborted);
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
}

} // namespace
