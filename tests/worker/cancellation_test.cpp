#include "worker/worker_fixture.hpp"

#include <string>

namespace {

using namespace std::chrono_literals;
using namespace skein;

/// A handler with a number of awaits, which is cancelled at each of them.
class CancelledHandler : public support::worker_fixture {
protected:
    static constexpr int steps = 6;

    /// Passes gates, one after the other.
    auto stepping()
    {
        return [this](std::string_view) -> asio::awaitable<void> {
            for (int step = 0; step < steps; ++step) {
                reached_ = step;
                if (step == blocked_) {
                    co_await gate_.pass();
                } else {
                    co_await db_.database().notify("c", "1");
                }
            }
            reached_ = steps;
        };
    }

    int blocked_ = 0;
    int reached_ = 0;
};

TEST_F(CancelledHandler, GivesItsJobBackAtEachAwait)
{
    const auto handler = stepping();
    for (blocked_ = 0; blocked_ < steps; ++blocked_) {
        const std::int64_t id = enqueue();
        auto run = start(handler, {.soft_deadline = 0s});
        EXPECT_EQ(reached_, blocked_);
        stop(run);
        EXPECT_EQ(reached_, blocked_);
        EXPECT_EQ(state_of(id), "pending");
        ASSERT_TRUE(db_.run(queue_.cancel(id)));
    }
}

TEST_F(CancelledHandler, FailsByItsTimeLimitAtEachAwait)
{
    const auto handler = stepping();
    for (blocked_ = 0; blocked_ < steps; ++blocked_) {
        const std::int64_t id = enqueue("1", {.max_attempts = 1});
        auto run = start(handler, {.time_limit = 1s});
        db_.advance(1s);
        EXPECT_EQ(reached_, blocked_);
        EXPECT_EQ(state_of(id), "dead: the time limit has passed");
        stop(run);
    }
}

TEST_F(CancelledHandler, IsRememberedWhenItIsCancelledBetweenTwoAwaits)
{
    blocked_ = steps; // nowhere
    const auto handler = stepping();
    // After each number of steps of the context: at awaits of the database, and between them.
    for (int moment = 0; moment < 120; ++moment) {
        const std::int64_t id = enqueue();
        reached_ = 0;
        auto run = db_.start(skein::run(queue_, handler, {.soft_deadline = 0s}));
        db_.context().restart();
        for (int i = 0; i < moment; ++i) {
            db_.context().poll_one();
        }
        run.cancel();
        db_.settle();
        ASSERT_TRUE(run.is_done());
        ASSERT_EQ(state_of(id), reached_ == steps ? "gone" : "pending") << moment;
        if (reached_ != steps) {
            ASSERT_TRUE(db_.run(queue_.cancel(id)));
        }
    }
}

} // namespace
