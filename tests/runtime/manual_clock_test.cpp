#include "support/run_coroutine.hpp"

#include <skein/testing/manual_clock.hpp>

#include <gmock/gmock.h>

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class ManualClock : public testing::Test {
protected:
    std::unique_ptr<skein::alarm> make() { return clock_.make_alarm(context_.get_executor()); }

    std::function<void()> note(std::string name)
    {
        return [this, name] { rung_.push_back(name); };
    }

    void advance(std::chrono::nanoseconds step)
    {
        clock_.advance(step);
        skein::support::settle(context_);
    }

    asio::io_context context_;
    skein::testing::manual_clock clock_;
    std::vector<std::string> rung_;
};

TEST_F(ManualClock, StandsStill)
{
    EXPECT_EQ(clock_.wall_now().time_since_epoch(), 100s);
    EXPECT_EQ(clock_.wall_now(), clock_.wall_now());
    EXPECT_EQ(clock_.steady_now(), clock_.steady_now());
}

TEST_F(ManualClock, StartsWhenItIsTold)
{
    const skein::testing::manual_clock clock(skein::clock::wall_time(7s));
    EXPECT_EQ(clock.wall_now().time_since_epoch(), 7s);
}

TEST_F(ManualClock, MovesBothTimes)
{
    const auto wall = clock_.wall_now();
    const auto steady = clock_.steady_now();
    clock_.advance(5s);
    EXPECT_EQ(clock_.wall_now() - wall, 5s);
    EXPECT_EQ(clock_.steady_now() - steady, 5s);
}

TEST_F(ManualClock, StepsTheWallAlone)
{
    const auto steady = clock_.steady_now();
    const auto alarm = make();
    alarm->set(10s, note("alarm"));
    clock_.set_wall(skein::clock::wall_time(1000s));
    skein::support::settle(context_);
    EXPECT_EQ(clock_.wall_now().time_since_epoch(), 1000s);
    EXPECT_EQ(clock_.steady_now(), steady);
    EXPECT_THAT(rung_, IsEmpty());
}

TEST_F(ManualClock, RingsOnceWhenItIsTime)
{
    const auto alarm = make();
    alarm->set(10s, note("alarm"));
    EXPECT_EQ(clock_.alarms(), 1u);
    advance(9999ms);
    EXPECT_THAT(rung_, IsEmpty());
    advance(1ms);
    EXPECT_THAT(rung_, ElementsAre("alarm"));
    EXPECT_EQ(clock_.alarms(), 0u);
    advance(1h);
    EXPECT_THAT(rung_, ElementsAre("alarm"));
}

TEST_F(ManualClock, RingsOnTheExecutorOnly)
{
    const auto alarm = make();
    alarm->set(1s, note("alarm"));
    clock_.advance(1s);
    EXPECT_THAT(rung_, IsEmpty());
    skein::support::settle(context_);
    EXPECT_THAT(rung_, ElementsAre("alarm"));
}

TEST_F(ManualClock, RingsInTheOrderOfTheTimes)
{
    const auto first = make();
    const auto second = make();
    const auto third = make();
    second->set(2s, note("second"));
    third->set(3s, note("third"));
    first->set(1s, note("first"));
    advance(10s);
    EXPECT_THAT(rung_, ElementsAre("first", "second", "third"));
}

TEST_F(ManualClock, ForgetsAnEarlierSetting)
{
    const auto alarm = make();
    alarm->set(1s, note("earlier"));
    alarm->set(2s, note("later"));
    EXPECT_EQ(clock_.alarms(), 1u);
    advance(10s);
    EXPECT_THAT(rung_, ElementsAre("later"));
}

TEST_F(ManualClock, DoesNotRingOnceItIsCleared)
{
    const auto alarm = make();
    alarm->set(1s, note("alarm"));
    alarm->clear();
    EXPECT_EQ(clock_.alarms(), 0u);
    advance(10s);
    EXPECT_THAT(rung_, IsEmpty());
}

TEST_F(ManualClock, DoesNotRingWhenItIsClearedOnItsWay)
{
    const auto cleared = make();
    auto destroyed = make();
    const auto set_anew = make();
    cleared->set(1s, note("cleared"));
    destroyed->set(1s, note("destroyed"));
    set_anew->set(1s, note("old"));
    clock_.advance(1s);
    cleared->clear();
    destroyed.reset();
    set_anew->set(1s, note("new"));
    skein::support::settle(context_);
    EXPECT_THAT(rung_, IsEmpty());
    advance(1s);
    EXPECT_THAT(rung_, ElementsAre("new"));
}

TEST_F(ManualClock, RingsAtOnceForADelayOfNothing)
{
    const auto alarm = make();
    alarm->set(0s, note("zero"));
    skein::support::settle(context_);
    alarm->set(-1s, note("negative"));
    skein::support::settle(context_);
    EXPECT_THAT(rung_, ElementsAre("zero", "negative"));
}

TEST_F(ManualClock, TakesTheLongestDelay)
{
    const auto alarm = make();
    advance(24h);
    alarm->set(std::chrono::nanoseconds::max(), note("never"));
    advance(24h);
    EXPECT_THAT(rung_, IsEmpty());
    EXPECT_EQ(clock_.alarms(), 1u);
}

TEST_F(ManualClock, MayBeSetInsideItsOwnRing)
{
    const auto alarm = make();
    int rings = 0;
    std::function<void()> again = [&] {
        ++rings;
        alarm->set(1s, again);
    };
    alarm->set(1s, again);
    for (int each = 0; each < 5; ++each) {
        advance(1s);
    }
    EXPECT_EQ(rings, 5);
}

TEST_F(ManualClock, KeepsNoContextBusy)
{
    const auto alarm = make();
    alarm->set(1s, note("alarm"));
    EXPECT_EQ(context_.run(), 0u);
}

} // namespace
