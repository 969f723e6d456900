#include "notification/notification_fixture.hpp"

#include <asio/error.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <memory>
#include <variant>

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using namespace skein;
using support::operation;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// Lets so many other handlers of the executor go first.
asio::awaitable<void> pass_turns(int count)
{
    for (int each = 0; each < count; ++each) {
        co_await asio::post(asio::use_awaitable);
    }
}

/// What `next() || timer` does, with a timer that is over after so many turns.
asio::awaitable<std::string> race(listener& inbox, int turns)
{
    const auto first = co_await (inbox.next() || pass_turns(turns));
    co_return first.index() == 0 ? std::get<0>(first).payload : std::string();
}

/// The same, where the timer is asked first.
asio::awaitable<std::string> race_behind(listener& inbox, int turns)
{
    const auto first = co_await (pass_turns(turns) || inbox.next());
    co_return first.index() == 1 ? std::get<1>(first).payload : std::string();
}

/// Goes on after it was cancelled, as one that cleans up would.
asio::awaitable<std::string> next_after_cancellation(listener& inbox)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    std::error_code first;
    try {
        const notification note = co_await inbox.next();
        co_return "not cancelled: " + note.payload;
    } catch (const std::system_error& failure) {
        first = failure.code();
    }
    const notification note = co_await inbox.next();
    co_return first.message() + ", then " + note.payload;
}

class ListenerCancellation : public support::notification_fixture {
protected:
    void run_handlers(int count)
    {
        db_.context().restart();
        for (int each = 0; each < count; ++each) {
            db_.context().poll_one();
        }
    }

    static std::vector<std::string> numbers(int first, int last)
    {
        std::vector<std::string> all;
        for (int each = first; each <= last; ++each) {
            all.push_back(std::to_string(each));
        }
        return all;
    }
};

TEST_F(ListenerCancellation, BeforeItBeginsLosesNothing)
{
    listener inbox = listen();
    notify("1");
    auto wait = db_.start(inbox.next());
    wait.cancel();
    db_.settle();
    EXPECT_EQ(wait.error(), asio::error::operation_aborted);
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
}

TEST_F(ListenerCancellation, WhileItWaitsLeavesNothingBehind)
{
    listener inbox = listen();
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        auto wait = db_.start(inbox.next());
        db_.settle();
        EXPECT_NE(db_.clock().alarms(), 0U);
        wait.cancel(type);
        db_.settle();
        EXPECT_EQ(wait.error(), asio::error::operation_aborted);
        EXPECT_EQ(db_.clock().alarms(), 0U);
    }
    notify("1");
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
}

TEST_F(ListenerCancellation, AfterTheCommitAndBeforeItGoesOnLosesNothing)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    auto tell = db_.start(db_.database().notify("orders", "1"));
    while (other_.value("SELECT count(*) FROM _honker_notifications") == "0") {
        run_handlers(1);
    }
    ASSERT_FALSE(wait.is_done());
    wait.cancel();
    db_.settle();
    EXPECT_EQ(wait.error(), asio::error::operation_aborted);
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
}

TEST_F(ListenerCancellation, AtWhateverMomentLosesNothing)
{
    listener inbox = listen();
    bool was_cancelled = false;
    bool was_told = false;
    for (int moment = 0; moment < 40; ++moment) {
        auto wait = db_.start(inbox.next());
        if (moment % 2 == 0) {
            db_.settle();
        }
        auto tell = db_.start(db_.database().notify("orders", std::to_string(moment)));
        run_handlers(moment / 2);
        wait.cancel();
        db_.settle();
        ASSERT_TRUE(wait.is_done());
        std::vector<std::string> all;
        if (!wait.has_failed()) {
            all.push_back(wait.result().payload);
            was_told = true;
        } else {
            EXPECT_EQ(wait.error(), asio::error::operation_aborted);
            was_cancelled = true;
        }
        for (std::string& each : drain(inbox)) {
            all.push_back(std::move(each));
        }
        ASSERT_THAT(all, ElementsAre(std::to_string(moment)));
    }
    EXPECT_TRUE(was_cancelled);
    EXPECT_TRUE(was_told);
}

TEST_F(ListenerCancellation, InARaceLosesNothing)
{
    listener inbox = listen();
    std::vector<std::string> got;
    int lost_races = 0;
    for (int turns = 0; turns < 40; ++turns) {
        auto tell = db_.start(db_.database().notify("orders", std::to_string(turns)));
        auto racing = db_.start(race(inbox, turns));
        db_.settle();
        const std::string payload = racing.result();
        if (payload.empty()) {
            ++lost_races;
        } else {
            got.push_back(payload);
        }
    }
    for (std::string& each : drain(inbox)) {
        got.push_back(std::move(each));
    }
    EXPECT_THAT(got, ElementsAreArray(numbers(0, 39)));
    EXPECT_GT(lost_races, 0);
    EXPECT_LT(lost_races, 40);
}

TEST_F(ListenerCancellation, InARaceForWhatWasReadBeforeLosesNothing)
{
    listener inbox = listen();
    notify_all(0, 39); // more than enough to hand out from memory
    std::vector<std::string> got;
    int lost_races = 0;
    for (int round = 0; round < 20; ++round) {
        got.push_back(db_.run(inbox.next()).payload);
        auto racing = db_.start(race_behind(inbox, round % 4));
        db_.settle();
        const std::string payload = racing.result();
        if (payload.empty()) {
            ++lost_races;
        } else {
            got.push_back(payload);
        }
    }
    for (std::string& each : drain(inbox)) {
        got.push_back(std::move(each));
    }
    EXPECT_THAT(got, ElementsAreArray(numbers(0, 39)));
    EXPECT_GT(lost_races, 0);
    EXPECT_LT(lost_races, 20);
}

TEST_F(ListenerCancellation, AtWhateverMomentDoesNotLoseThatItHasLagged)
{
    listener inbox = listen();
    for (int moment = 0; moment < 20; ++moment) {
        const std::string number = std::to_string(notify("null"));
        prune({.keep = 0});
        auto wait = db_.start(inbox.next());
        run_handlers(moment);
        wait.cancel();
        db_.settle();
        std::vector<std::string> told = drain(inbox);
        if (wait.error() == errc::lagged) {
            told.push_back("lagged " + number + '-' + number);
        }
        ASSERT_THAT(told, ElementsAre("lagged " + number + '-' + number));
    }
}

TEST_F(ListenerCancellation, OfOneLeavesTheOthersOfItsLineToWait)
{
    listener first = listen();
    listener second = listen();
    auto cancelled = db_.start(first.next());
    auto wait = db_.start(second.next());
    db_.settle();
    cancelled.cancel();
    db_.settle();
    notify("1");
    EXPECT_EQ(wait.result().payload, "1");
    EXPECT_THAT(drain(first), ElementsAre("1"));
}

TEST_F(ListenerCancellation, DoesNotEndWhatTheCoroutineDoesAfterIt)
{
    listener inbox = listen();
    auto work = db_.start(next_after_cancellation(inbox));
    db_.settle();
    work.cancel();
    db_.settle();
    EXPECT_FALSE(work.is_done());
    notify("1");
    ASSERT_TRUE(work.is_done());
    EXPECT_THAT(work.result(), ::testing::HasSubstr("aborted., then 1"));
}

TEST_F(ListenerCancellation, OfListeningItselfLeavesNothingBehind)
{
    auto listening = db_.start(db_.database().listen("orders"));
    listening.cancel();
    db_.settle();
    EXPECT_EQ(listening.error(), asio::error::operation_aborted);
    EXPECT_EQ(db_.clock().alarms(), 0U);
}

TEST_F(ListenerCancellation, ByTheEndOfTheContextWhileItWaitsLosesNothing)
{
    listener inbox = listen();
    {
        asio::io_context theirs;
        operation<notification> wait(theirs, inbox.next());
        theirs.poll();
        db_.settle();
        auto second = db_.start(inbox.try_next());
        db_.settle();
        EXPECT_EQ(second.error(), errc::invalid_argument);
    }
    notify("1");
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
}

TEST_F(ListenerCancellation, ByTheEndOfTheContextAfterTheCommitLosesNothing)
{
    listener inbox = listen();
    {
        asio::io_context theirs;
        operation<notification> wait(theirs, inbox.next());
        theirs.poll();
        db_.settle();
        notify("1"); // what is posted to the other context is never run
    }
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
}

TEST_F(ListenerCancellation, ByTheEndOfTheContextOfTheFirstLeavesTheOthersOfItsLine)
{
    listener first = listen();
    listener second = listen();
    auto theirs = std::make_unique<asio::io_context>();
    {
        operation<notification> wait(*theirs, first.next());
        theirs->poll();
        db_.settle();
    }
    auto wait = db_.start(second.next());
    db_.settle();
    theirs.reset();
    notify("1");
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().payload, "1");
    EXPECT_THAT(drain(first), ElementsAre("1"));
}

} // namespace
