#include "schedule/schedule_fixture.hpp"

#include <asio/error.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using namespace skein;
using support::at;

/// More handlers than a tick has, from the alarm to the next sleep.
constexpr int steps_of_a_tick = 30;

/// Runs in a coroutine that asks for its cancellation by itself.
asio::awaitable<void> run_unthrown(scheduler running)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await running.run();
}

/// Lets so many other handlers of the executor go first.
asio::awaitable<void> pass_turns(int count)
{
    for (int each = 0; each < count; ++each) {
        co_await asio::post(asio::use_awaitable);
    }
}

/// Runs for so many turns.
asio::awaitable<std::size_t> run_for(scheduler running, int turns)
{
    const auto first = co_await (running.run() || pass_turns(turns));
    co_return first.index();
}

class SchedulerCancellation : public support::schedule_fixture {
protected:
    SchedulerCancellation() { add("s", "@every 10s"); }

    /// Lets a moment come, cancels at every step of its tick, and expects that the scheduler ends
    /// and has enqueued the job or has left the moment to come.
    template <class Start>
    void cancel_at_every_step(Start start)
    {
        for (int step = 0; step < steps_of_a_tick; ++step) {
            support::operation<void> running = db_.start(start());
            db_.settle();
            const int before = jobs();
            const clock::wall_time moment = find("s").next_at.value();
            db_.clock().advance(10s);
            run_handlers(step);
            running.cancel();
            db_.settle();
            ASSERT_EQ(running.error(), asio::error::operation_aborted) << step;
            ASSERT_EQ(jobs(), find("s").next_at == moment ? before : before + 1) << step;
        }
    }

    void run_handlers(int count)
    {
        db_.context().restart();
        for (int each = 0; each < count; ++each) {
            db_.context().poll_one();
        }
    }
};

TEST_F(SchedulerCancellation, EndsItAtEveryStep)
{
    cancel_at_every_step([&] { return scheduler_.run(); });
}

TEST_F(SchedulerCancellation, EndsItAtEveryStepOfWhoDoesNotThrow)
{
    cancel_at_every_step([&] { return run_unthrown(scheduler_); });
}

TEST_F(SchedulerCancellation, EndsItAtEveryStepOfAFailure)
{
    other_.sql("CREATE TRIGGER refusal BEFORE INSERT ON _honker_live"
               " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    cancel_at_every_step([&] { return scheduler_.run(); });
    cancel_at_every_step([&] { return run_unthrown(scheduler_); });
}

TEST_F(SchedulerCancellation, EndsItAfterATimeLimit)
{
    for (int turns = 0; turns < steps_of_a_tick; ++turns) {
        const int before = jobs();
        const clock::wall_time moment = find("s").next_at.value();
        db_.clock().advance(10s);
        ASSERT_EQ(db_.run(run_for(scheduler_, turns)), 1U);
        ASSERT_EQ(jobs() > before, find("s").next_at != moment) << turns;
    }
    EXPECT_GT(jobs(), 0);
}

} // namespace
