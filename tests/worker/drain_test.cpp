#include "worker/worker_fixture.hpp"

#include <skein/json.hpp>
#include <skein/testing/drain.hpp>

#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using skein::testing::drain_counts;

class Drain : public support::worker_fixture {
protected:
    template <class From, class Handler>
    drain_counts drain(const From& from, const Handler& handler, const worker_options& options = {})
    {
        return db_.run(skein::testing::drain(from, handler, options));
    }
};

/// By the number that it gets.
asio::awaitable<void> act(job& held, int number)
{
    switch (number) {
    case 0:
        co_return;
    case 1:
        throw std::runtime_error("no");
    case 2:
        throw permanent_failure("never");
    case 3:
        throw snooze(5s);
    default:
        co_await held.ack();
    }
}

TEST_F(Drain, TellsWhatHasComeOfEveryJobThatIsDue)
{
    for (const char* number : {"0", "0", "1", "2", "\"x\"", "3", "4"}) {
        enqueue(number);
    }
    enqueue("0", {.delay = 60s});
    EXPECT_EQ(drain(queue_, act),
              (drain_counts{.finished = 2, .retried = 1, .dead = 2, .snoozed = 1, .settled = 1}));
    EXPECT_EQ(count("scheduled"), "3");
    EXPECT_EQ(count("processing"), "0");
}

TEST_F(Drain, OfNothingIsNothing)
{
    EXPECT_EQ(drain(queue_, act), drain_counts{});
}

TEST_F(Drain, RunsWhatHandlersEnqueueMeanwhile)
{
    enqueue("5");
    const auto handler = [this](int number) -> asio::awaitable<void> {
        if (number > 0) {
            co_await queue_.enqueue(std::to_string(number - 1));
        }
    };
    EXPECT_EQ(drain(queue_, handler).finished, 6U);
}

TEST_F(Drain, RunsOneAfterTheOther)
{
    for (int i = 0; i < 5; ++i) {
        enqueue();
    }
    int running = 0;
    const auto handler = [&](job&) -> asio::awaitable<void> {
        EXPECT_EQ(++running, 1);
        co_await db_.database().notify("c", "1");
        --running;
    };
    EXPECT_EQ(drain(queue_, handler, {.concurrency = 100}).finished, 5U);
}

TEST_F(Drain, RunsAgainWhatIsDueAgain)
{
    enqueue("1", {.max_attempts = 3});
    const worker_options soon{.backoff = {.first = 1s, .most = 1s}};
    EXPECT_EQ(drain(queue_, act, soon), drain_counts{.retried = 1});
    EXPECT_EQ(drain(queue_, act, soon), drain_counts{});
    db_.advance(1s);
    EXPECT_EQ(drain(queue_, act, soon), drain_counts{.retried = 1});
    db_.advance(1s);
    EXPECT_EQ(drain(queue_, act, soon), drain_counts{.dead = 1});
}

TEST_F(Drain, RunsWhatIsDueAgainAtOnce)
{
    enqueue("1", {.max_attempts = 3});
    EXPECT_EQ(drain(queue_, act, {.backoff = {.first = 0s}}),
              (drain_counts{.retried = 2, .dead = 1}));
}

TEST_F(Drain, TakesFromSeveralQueues)
{
    const skein::queue other = db_.database().queue("other");
    enqueue("0");
    db_.run(other.enqueue("0"));
    const queue_choice both{queue_, other};
    EXPECT_EQ(drain(both, act).finished, 2U);
}

TEST_F(Drain, ThrowsWhatTheDatabaseFailsWith)
{
    enqueue("0");
    other_.sql("CREATE TRIGGER refusal BEFORE DELETE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    EXPECT_THROW(drain(queue_, act), error);
    other_.sql("DROP TRIGGER refusal; CREATE TRIGGER refusal BEFORE UPDATE ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END; UPDATE _skein_meta SET rowid = rowid");
    enqueue("0");
    EXPECT_THROW(drain(queue_, act), error);
}

TEST_F(Drain, OfATransportRunsItsMessages)
{
    const skein::transport mails = db_.database().transport();
    for (int i = 0; i < 3; ++i) {
        db_.run(mails.publish("g", std::to_string(i)));
    }
    const auto handler = [](message& held, int number) -> asio::awaitable<void> {
        EXPECT_EQ(held.group(), "g");
        if (number == 2) {
            throw std::runtime_error("no");
        }
        co_return;
    };
    EXPECT_EQ(drain(mails, handler), (drain_counts{.finished = 2, .retried = 1}));
}

} // namespace
