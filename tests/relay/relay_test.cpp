#include "relay/relay_fixture.hpp"

#include "support/run_coroutine.hpp"
#include "support/temporary_directory.hpp"

#include <skein/outbox.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/this_coro.hpp>

#include <cmath>
#include <memory>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Relay : public support::relay_fixture {};

TEST_F(Relay, HandsOutWhatIsThereInOrderAndSavesHowFarItHasCome)
{
    publish_many(3);
    const auto relay = start_relay();
    EXPECT_THAT(calls_, ElementsAre("orders:1", "orders:2", "orders:3"));
    EXPECT_EQ(saved("r"), 3);
    EXPECT_FALSE(relay.is_done());
}

TEST_F(Relay, GivesTheSinkAllOfTheEvent)
{
    db_.run(stream_.publish("ann", R"({"a": 1})"));
    std::vector<relayed_event> got;
    const auto take = [&](const relayed_event& each) -> asio::awaitable<void> {
        got.push_back(each);
        co_return;
    };
    const auto relay = db_.start(stream_.relay("r").run(take));
    db_.settle();
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].topic, "orders");
    EXPECT_EQ(got[0].event.key, "ann");
    EXPECT_EQ(got[0].event.payload, R"({"a": 1})");
    EXPECT_EQ(got[0].event.created_at.time_since_epoch(), 100s);
}

TEST_F(Relay, WaitsForWhatIsCommittedAndSkipsWhatIsRolledBack)
{
    publish();
    const auto relay = start_relay();
    SQLite::Database own(db_.path().string(), SQLite::OPEN_READWRITE);
    own.exec("CREATE TABLE rows (v); BEGIN IMMEDIATE; INSERT INTO rows VALUES (1)");
    publish_event(own, "orders", "\"dropped\"");
    own.exec("ROLLBACK");
    db_.advance(1ms);
    EXPECT_THAT(taken_, ElementsAre(1));
    own.exec("BEGIN IMMEDIATE; INSERT INTO rows VALUES (1)");
    publish_event(own, "orders", "\"kept\"");
    db_.advance(1ms);
    EXPECT_THAT(taken_, ElementsAre(1)) << "before the commit";
    own.exec("COMMIT");
    db_.advance(1ms);
    EXPECT_THAT(taken_, ElementsAre(1, 2));
}

TEST_F(Relay, GoesOnBehindWhatItHasHandedOut)
{
    publish_many(2);
    {
        auto relay = start_relay();
        relay.cancel();
        db_.settle();
        EXPECT_EQ(relay.error(), asio::error::operation_aborted);
    }
    publish();
    const auto again = start_relay();
    EXPECT_THAT(taken_, ElementsAre(1, 2, 3));
}

TEST_F(Relay, TriesAgainAfterPausesThatGrow)
{
    publish_many(2);
    failures_ = 5;
    const auto relay = start_relay("r", {.first_pause = 100ms, .longest_pause = 400ms});
    pass(2s);
    EXPECT_THAT(calls_, ElementsAre("orders:1", "orders:1", "orders:1", "orders:1", "orders:1",
                                    "orders:1", "orders:2"));
    std::vector<std::chrono::milliseconds> pauses;
    for (std::size_t each = 1; each < moments_.size(); ++each) {
        pauses.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(moments_[each] -
                                                                               moments_[each - 1]));
    }
    EXPECT_THAT(pauses, ElementsAre(100ms, 200ms, 400ms, 400ms, 400ms, 0ms));
    EXPECT_EQ(saved("r"), 2);
}

TEST_F(Relay, StartsWithTheFirstPauseAfterASuccess)
{
    publish();
    failures_ = 3;
    const auto relay = start_relay("r", {.first_pause = 100ms});
    pass(1s);
    failures_ = 1;
    publish();
    EXPECT_EQ(calls_.size(), 5U);
    pass(100ms);
    EXPECT_EQ(calls_.size(), 6U);
    EXPECT_THAT(taken_, ElementsAre(1, 2));
}

TEST_F(Relay, ThatIsCancelledWhileTheSinkWorksEndsWhenThatIsSaved)
{
    publish_many(2);
    is_held_ = true;
    auto relay = start_relay();
    relay.cancel();
    db_.settle();
    EXPECT_FALSE(relay.is_done());
    open_gate();
    EXPECT_EQ(relay.error(), asio::error::operation_aborted);
    EXPECT_THAT(taken_, ElementsAre(1));
    EXPECT_EQ(saved("r"), 1);
}

TEST_F(Relay, ThatIsCancelledInAPauseEndsAtOnce)
{
    publish();
    failures_ = 1;
    auto relay = start_relay();
    relay.cancel(asio::cancellation_type::total);
    db_.settle();
    EXPECT_EQ(relay.error(), asio::error::operation_aborted);
    EXPECT_THAT(taken_, IsEmpty());
}

TEST_F(Relay, ThatIsCancelledBeforeItHasBegunHandsOutNothing)
{
    publish();
    const auto take = [this](const relayed_event& each) { return take_note(each); };
    auto relay = db_.start(stream_.relay("r").run(take));
    poll(1);
    relay.cancel();
    db_.settle();
    EXPECT_EQ(relay.error(), asio::error::operation_aborted);
    EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(Relay, ASinkMayEndWithACancellationOfItsOwn)
{
    publish();
    int calls = 0;
    const auto take = [&](const relayed_event&) -> asio::awaitable<void> {
        if (++calls == 1) {
            throw std::system_error(asio::error::operation_aborted); // its own time limit
        }
        co_return;
    };
    const auto relay = db_.start(stream_.relay("r").run(take));
    db_.settle();
    pass(200ms);
    EXPECT_EQ(calls, 2);
    EXPECT_FALSE(relay.is_done());
}

TEST_F(Relay, ASinkMayThrowAnything)
{
    publish();
    int calls = 0;
    const auto take = [&](const relayed_event&) -> asio::awaitable<void> {
        if (++calls == 1) {
            throw 7; // NOLINT(hicpp-exception-baseclass): as somebody might
        }
        co_return;
    };
    const auto relay = db_.start(stream_.relay("r").run(take));
    db_.settle();
    pass(200ms);
    EXPECT_EQ(calls, 2);
}

TEST_F(Relay, OfOneNameIsAloneAndTheNextFollows)
{
    publish();
    is_held_ = true;
    auto first = start_relay();
    auto second = start_relay();
    EXPECT_THAT(calls_, ElementsAre("orders:1"));
    first.cancel();
    open_gate();
    EXPECT_TRUE(first.is_done());
    publish();
    EXPECT_THAT(calls_, ElementsAre("orders:1", "orders:2")) << "the second one has taken over";
    EXPECT_FALSE(second.is_done());
}

TEST_F(Relay, OfAnotherNameOrTopicWorksBesideIt)
{
    publish();
    const auto first = start_relay("a");
    const auto second = start_relay("b");
    const skein::stream other = db_.database().stream("other");
    db_.run(other.publish("1"));
    const auto third = start_relay(other.relay("a"));
    EXPECT_THAT(calls_, ElementsAre("orders:1", "orders:1", "other:2"));
}

TEST_F(Relay, ThatHasLostItsLockHandsOutNothingUntilItHasItAgain)
{
    publish();
    const auto relay = start_relay();
    const support::plain_connection other(db_.path());
    other.sql("UPDATE _honker_locks SET owner = 'other', expires_at = 105");
    pass(4s); // the renewal of the guard finds out at the latest
    db_.advance(10s);
    other.sql("UPDATE _honker_locks SET owner = 'other', expires_at = 200");
    publish();
    EXPECT_THAT(taken_, ElementsAre(1));
    db_.advance(100s);
    EXPECT_THAT(taken_, ElementsAre(1, 2));
}

TEST_F(Relay, IsNotRepeatedWhenOnlyTheSavingFails)
{
    publish_many(2);
    is_held_ = true;
    const auto relay = start_relay();
    const support::plain_connection other(db_.path());
    other.sql("CREATE TRIGGER spoiled BEFORE UPDATE ON _honker_stream_consumers"
              " BEGIN SELECT raise(ABORT, 'spoiled'); END");
    open_gate();
    pass(300ms);
    EXPECT_THAT(taken_, ElementsAre(1));
    EXPECT_EQ(saved("r"), 0);
    other.sql("DROP TRIGGER spoiled");
    pass(1s);
    EXPECT_THAT(taken_, ElementsAre(1, 2));
    EXPECT_EQ(saved("r"), 2);
}

TEST_F(Relay, WaitsWhileAnotherKeepsTheFile)
{
    publish();
    is_held_ = true;
    const auto relay = start_relay();
    const support::plain_connection other(db_.path());
    other.sql("BEGIN IMMEDIATE");
    open_gate();
    pass(7s); // longer than the busy timeout
    EXPECT_THAT(taken_, ElementsAre(1));
    other.sql("COMMIT");
    pass(1s);
    EXPECT_EQ(saved("r"), 1);
    EXPECT_FALSE(relay.is_done());
    EXPECT_THAT(taken_, ElementsAre(1));
}

TEST_F(Relay, EndsWhenTheDatabaseIsClosed)
{
    publish();
    auto waiting = start_relay();
    failures_ = 1;
    auto pausing = start_relay("another");
    auto standing_by = start_relay();
    db_.run(db_.database().close());
    EXPECT_EQ(waiting.error(), errc::closed);
    EXPECT_EQ(pausing.error(), errc::closed);
    EXPECT_EQ(standing_by.error(), errc::closed);
}

TEST_F(Relay, EndsWhenEventsWereRemovedBeforeTheyWereHandedOut)
{
    publish_many(3);
    db_.run(consume("r").save(1));
    db_.run(stream_.trim({.keep = 1}));
    auto relay = start_relay();
    ASSERT_TRUE(relay.is_done());
    EXPECT_THROW(relay.result(), lagged);
    EXPECT_THAT(calls_, IsEmpty());
    EXPECT_TRUE(db_.run(stream_.forget_consumer("r")));
    const auto again = start_relay();
    EXPECT_THAT(taken_, ElementsAre(3));
}

TEST_F(Relay, KeepsWhatItHasNotHandedOutFromBeingTrimmed)
{
    publish_many(2);
    is_held_ = true;
    const auto relay = start_relay();
    EXPECT_EQ(db_.run(stream_.trim({.passed_by_all = true})), 0U);
    open_gate();
    EXPECT_EQ(db_.run(stream_.trim({.passed_by_all = true})), 2U);
}

TEST_F(Relay, RefusesPausesThatAreNone)
{
    const auto refused = [&](relay_options options) {
        return code_of([&] { static_cast<void>(stream_.relay("r", options)); });
    };
    EXPECT_EQ(refused({.first_pause = 0s}), errc::invalid_argument);
    EXPECT_EQ(refused({.first_pause = -1s}), errc::invalid_argument);
    EXPECT_EQ(refused({.first_pause = duration(std::nan(""))}), errc::invalid_argument);
    EXPECT_EQ(refused({.first_pause = 2s, .longest_pause = 1s}), errc::invalid_argument);
    EXPECT_EQ(refused({.lock_ttl = 0s}), errc::invalid_argument);
    EXPECT_EQ(refused({.first_pause = duration::max(), .longest_pause = duration::max()}),
              std::error_code());
}

asio::awaitable<void> never_return(int& calls)
{
    ++calls;
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours{1});
    co_await timer.async_wait(asio::use_awaitable);
}

TEST(RelayLife, MayEndWithItsContextWhileTheSinkWorks)
{
    const support::temporary_directory directory;
    int calls = 0;
    auto context = std::make_unique<asio::io_context>();
    const skein::database db(directory / "test.db", support::manual_database::quick());
    const skein::stream topic = db.stream("t");
    support::run_coroutine(*context, topic.publish("1"));
    const auto take = [&](const relayed_event&) { return never_return(calls); };
    const support::operation<void> relay(*context, topic.relay("r").run(take));
    support::run_until(*context, [&] { return calls == 1; });
    context.reset();
    EXPECT_FALSE(relay.is_done());
}

TEST(RelayLog, IsToldOfFailures)
{
    std::vector<std::string> told;
    database_options options = support::manual_database::quick();
    options.log = [&](log_level level, std::string_view text) {
        if (level == log_level::warning) {
            told.emplace_back(text);
        }
    };
    options.warn_of_wal_reset_bug = false;
    support::manual_database db(options);
    const skein::stream topic = db.database().stream("t");
    db.run(topic.publish("1"));
    const auto refuse = [](const relayed_event&) -> asio::awaitable<void> {
        throw std::runtime_error("the broker\nis away");
        co_return;
    };
    const auto relay = db.start(topic.relay("r").run(refuse));
    db.settle();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_THAT(told[0], HasSubstr("relay 'r' of 't': event 1 was not taken: the broker is away; "
                                   "the next try is in 0.1"));
}

} // namespace
