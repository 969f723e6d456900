#include <skein/clock.hpp>

#include <asio/steady_timer.hpp>

#include <algorithm>
#include <cstdint>

namespace skein {

namespace {

// Far enough away, and near enough that adding it to the present does not overflow.
constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours{24 * 365};

class timer_alarm final : public alarm {
public:
    explicit timer_alarm(const asio::any_io_executor& executor)
        : state_(std::make_shared<state>(executor))
    {
    }

    void set(std::chrono::nanoseconds delay, std::function<void()> ring) override
    {
        const std::uint64_t setting = ++state_->setting;
        state_->timer.expires_after(std::min(delay, longest_wait));
        state_->timer.async_wait([owner = std::weak_ptr<state>(state_), setting,
                                  ring = std::move(ring)](const asio::error_code& failure) {
            // A wait that has ended already cannot be cancelled any more: hence the number.
            const std::shared_ptr<state> alive = owner.lock();
            if (!failure && alive && alive->setting == setting) {
                ring();
            }
        });
    }

    void clear() noexcept override
    {
        ++state_->setting;
        state_->timer.cancel();
    }

private:
    struct state {
        explicit state(const asio::any_io_executor& executor) : timer(executor) {}

        asio::steady_timer timer;
        std::uint64_t setting = 0;
    };

    std::shared_ptr<state> state_;
};

class machine_clock final : public clock {
public:
    wall_time wall_now() const noexcept override { return std::chrono::system_clock::now(); }

    steady_time steady_now() const noexcept override { return std::chrono::steady_clock::now(); }

    std::unique_ptr<alarm> make_alarm(asio::any_io_executor executor) override
    {
        return std::make_unique<timer_alarm>(executor);
    }
};

} // namespace

std::shared_ptr<clock> system_clock()
{
    static const auto the_clock = std::make_shared<machine_clock>();
    return the_clock;
}

} // namespace skein
