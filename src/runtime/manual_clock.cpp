#include <skein/testing/manual_clock.hpp>

#include <asio/post.hpp>

#include <cstdint>
#include <map>
#include <mutex>

namespace skein::testing {

struct manual_clock::state {
    struct setting {
        steady_time due;
        asio::any_io_executor executor;
        std::shared_ptr<std::uint64_t> current; ///< touched on the executor only
        std::uint64_t number = 0;
        std::function<void()> ring;
    };

    /// Rings on the executor, unless the alarm has been set anew or cleared by then.
    static void post(setting due)
    {
        asio::any_io_executor executor = due.executor;
        asio::post(executor, [due = std::move(due)] {
            if (*due.current == due.number) {
                due.ring();
            }
        });
    }

    std::mutex mutex;
    wall_time wall;
    steady_time steady{};
    std::map<const void*, setting> settings;
};

class manual_clock::manual_alarm final : public alarm {
public:
    manual_alarm(std::shared_ptr<state> clock, asio::any_io_executor executor)
        : clock_(std::move(clock)), executor_(std::move(executor))
    {
    }

    ~manual_alarm() override { manual_alarm::clear(); }

    void set(std::chrono::nanoseconds delay, std::function<void()> ring) override
    {
        ++*number_;
        const std::lock_guard lock(clock_->mutex);
        const steady_time last = steady_time::max();
        const steady_time due = delay < last - clock_->steady ? clock_->steady + delay : last;
        state::setting setting{due, executor_, number_, *number_, std::move(ring)};
        if (delay <= std::chrono::nanoseconds::zero()) {
            clock_->settings.erase(this);
            state::post(std::move(setting));
        } else {
            clock_->settings.insert_or_assign(this, std::move(setting));
        }
    }

    void clear() noexcept override
    {
        ++*number_;
        const std::lock_guard lock(clock_->mutex);
        clock_->settings.erase(this);
    }

private:
    std::shared_ptr<state> clock_;
    asio::any_io_executor executor_;
    std::shared_ptr<std::uint64_t> number_ = std::make_shared<std::uint64_t>(0);
};

manual_clock::manual_clock(wall_time start) : state_(std::make_shared<state>())
{
    state_->wall = start;
}

manual_clock::~manual_clock() = default;

void manual_clock::advance(std::chrono::nanoseconds step)
{
    std::multimap<steady_time, state::setting> due;
    {
        const std::lock_guard lock(state_->mutex);
        state_->wall += std::chrono::duration_cast<wall_time::duration>(step);
        state_->steady += step;
        for (auto each = state_->settings.begin(); each != state_->settings.end();) {
            if (each->second.due <= state_->steady) {
                due.emplace(each->second.due, std::move(each->second));
                each = state_->settings.erase(each);
            } else {
                ++each;
            }
        }
    }
    for (auto& [moment, each] : due) {
        state::post(std::move(each));
    }
}

void manual_clock::set_wall(wall_time now)
{
    const std::lock_guard lock(state_->mutex);
    state_->wall = now;
}

std::size_t manual_clock::alarms() const
{
    const std::lock_guard lock(state_->mutex);
    return state_->settings.size();
}

clock::wall_time manual_clock::wall_now() const noexcept
{
    const std::lock_guard lock(state_->mutex);
    return state_->wall;
}

clock::steady_time manual_clock::steady_now() const noexcept
{
    const std::lock_guard lock(state_->mutex);
    return state_->steady;
}

std::unique_ptr<alarm> manual_clock::make_alarm(asio::any_io_executor executor)
{
    return std::make_unique<manual_alarm>(state_, std::move(executor));
}

} // namespace skein::testing
