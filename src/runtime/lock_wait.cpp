#include "runtime/lock_wait.hpp"

namespace skein::runtime {

lock_wait::lock_wait(std::unique_ptr<alarm> timer, std::function<void()> try_again)
    : timer_(std::move(timer)), try_again_(std::move(try_again))
{
}

void lock_wait::pause()
{
    std::uniform_int_distribution<int> microseconds(100, 1000);
    is_pausing_ = true;
    timer_->set(std::chrono::microseconds(microseconds(random_)), [this] {
        is_pausing_ = false;
        try_again_();
    });
}

void lock_wait::forgive() noexcept
{
    timer_->clear();
    is_pausing_ = false;
    met_contention_ = false;
    owes_gap_ = false;
}

} // namespace skein::runtime
