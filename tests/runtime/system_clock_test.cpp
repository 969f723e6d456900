#include <skein/clock.hpp>

#include <gmock/gmock.h>

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class SystemClock : public testing::Test {
protected:
    asio::io_context context_;
    const std::shared_ptr<skein::clock> clock_ = skein::system_clock();
    std::unique_ptr<skein::alarm> alarm_ = clock_->make_alarm(context_.get_executor());
    std::vector<std::string> rung_;

    std::function<void()> note(std::string name)
    {
        return [this, name] { rung_.push_back(name); };
    }
};

TEST_F(SystemClock, TellsTheTime)
{
    const auto before = std::chrono::system_clock::now();
    const auto wall = clock_->wall_now();
    EXPECT_LE(before, wall);
    const auto steady = clock_->steady_now();
    EXPECT_LE(steady, clock_->steady_now());
}

TEST_F(SystemClock, RingsOnceAndNotEarly)
{
    const auto begin = clock_->steady_now();
    alarm_->set(3ms, note("alarm"));
    context_.run();
    EXPECT_GE(clock_->steady_now() - begin, 3ms);
    EXPECT_THAT(rung_, ElementsAre("alarm"));
}

TEST_F(SystemClock, ForgetsAnEarlierSetting)
{
    alarm_->set(1ms, note("earlier"));
    alarm_->set(2ms, note("later"));
    context_.run();
    EXPECT_THAT(rung_, ElementsAre("later"));
}

TEST_F(SystemClock, DoesNotRingOnceItIsCleared)
{
    alarm_->set(1ms, note("alarm"));
    alarm_->clear();
    context_.run();
    EXPECT_THAT(rung_, IsEmpty());
}

TEST_F(SystemClock, DoesNotRingOnceItIsDestroyed)
{
    alarm_->set(1ms, note("alarm"));
    alarm_.reset();
    context_.run();
    EXPECT_THAT(rung_, IsEmpty());
}

TEST_F(SystemClock, TakesTheLongestDelay)
{
    alarm_->set(std::chrono::nanoseconds::max(), note("never"));
    context_.run_for(2ms);
    EXPECT_THAT(rung_, IsEmpty());
    alarm_->set(-1s, note("negative"));
    context_.restart();
    context_.run();
    EXPECT_THAT(rung_, ElementsAre("negative"));
}

} // namespace
