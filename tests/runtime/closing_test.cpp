#include "runtime/running_queue.hpp"

#include <skein/transaction.hpp>

#include <SQLiteCpp/Database.h>

namespace {

using namespace std::chrono_literals;
using skein::errc;
using skein::message;
using skein::transaction;
using skein::support::operation;

class Closing : public skein::support::running_queue {
protected:
    operation<void> start_closing() { return db_.start(db_.database().close()); }
};

TEST_F(Closing, FinishesWhatCameBeforeAndEndsWhatWaits)
{
    publish("first");
    message held = finish(queue_.claim());
    auto waiting = start_claim();
    auto brief = db_.start(queue_.claim_within(1h));
    db_.settle();
    auto before = start_publish("before", "other");
    auto ack = db_.start(held.ack());
    auto closing = start_closing();
    auto after = start_publish("after");
    db_.settle();
    EXPECT_FALSE(before.has_failed());
    EXPECT_TRUE(ack.result());
    EXPECT_EQ(waiting.error(), errc::closed);
    EXPECT_EQ(brief.error(), errc::closed);
    EXPECT_EQ(after.error(), errc::closed);
    EXPECT_TRUE(closing.is_done());
    EXPECT_FALSE(closing.has_failed());
    EXPECT_EQ(payloads(), std::vector<std::string>{"before"});
    EXPECT_EQ(db_.clock().alarms(), 0u);
}

TEST_F(Closing, LeasesNothingToAClaimThatCouldNotAcknowledgeItAnyMore)
{
    auto waiting = start_claim();
    db_.settle();
    auto published = start_publish("m");
    auto now = db_.start(queue_.try_claim());
    auto closing = start_closing();
    db_.settle();
    EXPECT_FALSE(published.has_failed());
    EXPECT_EQ(waiting.error(), errc::closed);
    EXPECT_EQ(now.error(), errc::closed);
    EXPECT_EQ(payloads(), std::vector<std::string>{"m"});
    EXPECT_EQ(leased(), "0");
}

TEST_F(Closing, FinishesAllThatCameBeforeHoweverManyBatchesItTakes)
{
    std::vector<operation<void>> before;
    for (int each = 0; each < 3500; ++each) {
        before.push_back(start_publish("m"));
    }
    auto closing = start_closing();
    db_.settle();
    EXPECT_TRUE(closing.is_done());
    for (const auto& each : before) {
        EXPECT_TRUE(each.is_done());
        EXPECT_FALSE(each.has_failed());
    }
}

TEST_F(Closing, RefusesEveryOperationThatComesLater)
{
    publish("m");
    message held = finish(queue_.claim());
    const skein::message_fence fence(1, "g", "token");
    db_.run(db_.database().close());
    const auto expect_closed = [this](auto awaited) {
        auto started = db_.start(std::move(awaited));
        db_.settle();
        EXPECT_EQ(started.error(), errc::closed);
    };
    const auto work = [](transaction&) { return 7; };
    const auto look = [](const SQLite::Database&) { return 7; };
    expect_closed(queue_.publish("g", "m"));
    expect_closed(queue_.claim());
    expect_closed(queue_.try_claim());
    expect_closed(queue_.claim_within(1s));
    expect_closed(queue_.ack(fence));
    expect_closed(queue_.nack(fence));
    expect_closed(queue_.extend(fence, 1s));
    expect_closed(held.extend(1s));
    expect_closed(held.nack());
    expect_closed(held.ack());
    expect_closed(db_.database().transaction(work));
    expect_closed(db_.database().read(look));
    expect_closed(db_.database().transport().publish("g", "m"));
}

TEST_F(Closing, MayBeAskedForTwice)
{
    auto first = start_closing();
    auto second = start_closing();
    db_.settle();
    EXPECT_TRUE(first.is_done() && !first.has_failed());
    EXPECT_TRUE(second.is_done() && !second.has_failed());
    EXPECT_NO_THROW(db_.run(db_.database().close()));
}

TEST_F(Closing, ReturnsWhenTheFileIsClosed)
{
    publish("m");
    const std::filesystem::path log = db_.path().string() + "-wal";
    EXPECT_TRUE(std::filesystem::exists(log));
    db_.run(db_.database().close());
    // Nobody holds a lock of the database's any more, so the mode can be changed.
    EXPECT_EQ(other_.value("PRAGMA journal_mode = delete"), "delete");
    EXPECT_FALSE(std::filesystem::exists(log));
}

TEST_F(Closing, CannotBeCancelled)
{
    auto closing = start_closing();
    db_.context().restart();
    db_.context().poll_one();
    closing.cancel();
    db_.settle();
    EXPECT_TRUE(closing.is_done());
    EXPECT_FALSE(closing.has_failed());
}

TEST_F(Closing, HappensWhenTheLastHandleIsDropped)
{
    auto waiting = start_claim();
    db_.settle();
    const skein::database copy = db_.database();
    db_.drop_database();
    EXPECT_FALSE(waiting.is_done()) << "there is another handle";
    {
        const skein::database last = copy;
    }
    EXPECT_FALSE(waiting.is_done());
}

TEST_F(Closing, IsNotPutOffByTransportsAndMessages)
{
    publish("m");
    const message held = finish(queue_.claim());
    const skein::transport copy = queue_;
    auto waiting = start_claim();
    db_.settle();
    db_.drop_database();
    EXPECT_EQ(waiting.error(), errc::closed);
}

TEST_F(Closing, InsideACallbackLetsItsBatchFinish)
{
    auto last = std::make_shared<std::optional<skein::database>>(db_.database());
    const auto work = [last](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1)");
        last->reset();
    };
    auto started = db_.start((*last)->transaction(work));
    auto neighbour = start_publish("m");
    db_.drop_database();
    EXPECT_FALSE(started.has_failed());
    EXPECT_TRUE(started.is_done());
    EXPECT_FALSE(neighbour.has_failed());
    EXPECT_EQ(other_.value("SELECT v FROM t"), "1");
}

TEST_F(Closing, FreesTheFileForTheNextDatabase)
{
    for (int each = 0; each < 3; ++each) {
        publish("m", std::to_string(each));
        auto waiting = start_claim({.min_priority = 4});
        db_.settle();
        db_.reopen();
        EXPECT_EQ(waiting.error(), errc::closed);
        queue_ = db_.database().transport();
    }
    EXPECT_EQ(payloads().size(), 3u);
}

TEST_F(Closing, SaysSoInTheLog)
{
    std::vector<std::string> lines;
    skein::database_options options;
    options.warn_of_wal_reset_bug = false;
    options.log = [&](skein::log_level level, std::string_view text) {
        EXPECT_EQ(level, skein::log_level::info);
        lines.emplace_back(text);
    };
    {
        const skein::database database(db_.context().get_executor(), db_.path(), options);
        db_.run(database.close());
        db_.run(database.close());
    }
    db_.settle();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_NE(lines[0].find("opened"), std::string::npos);
    EXPECT_NE(lines[1].find("closed"), std::string::npos);
    EXPECT_EQ(lines[1].find(db_.path().string()), 0u);
}

} // namespace
