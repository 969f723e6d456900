#include "api/lock/lock_keeper.hpp"

#include "api/seconds.hpp"
#include "runtime/failure.hpp"

#include <algorithm>
#include <chrono>

namespace skein::api {

namespace {

// After a failure it is tried again this soon, or sooner when little time is left.
constexpr std::chrono::nanoseconds pause_after_failure = std::chrono::seconds{1};

/// After a third of the lock's time, so that there is time for two more tries.
clock::steady_time next_renewal(const held_lock& held)
{
    return held.engine().steady_now() + held.ttl() / 3;
}

} // namespace

lock_keeper::lock_keeper(std::shared_ptr<held_lock> held)
    : waiter({}), held_(std::move(held)), accepts_(held_->line() + "renewal"),
      renew_at_(next_renewal(*held_))
{
}

bool lock_keeper::has_work(sqlite::connection /*connection*/, clock::wall_time /*now*/)
{
    if (!held_->is_held()) {
        held_->end(); // also if the clock that has said so steps back
        return true;
    }
    return is_due();
}

bool lock_keeper::is_due() const noexcept
{
    return held_->engine().steady_now() >= renew_at_;
}

std::optional<clock::wall_time> lock_keeper::look_again() const noexcept
{
    return held_->engine().on_the_wall(renew_at_);
}

runtime::serving lock_keeper::serve(runtime::batch& batch, std::span<waiter* const> /*line*/)
{
    // Any transaction of the user's makes all lines look.
    if (is_due()) {
        if (!held_lock::renew(held_, batch)) {
            return {.served = 1};
        }
        renew_at_ = next_renewal(*held_);
    }
    return {.served = 0, .look_again = look_again()};
}

void lock_keeper::failed(const std::exception_ptr& failure) noexcept
{
    if (runtime::is_final(failure) || !held_->is_held()) {
        return;
    }
    try {
        auto next = std::make_shared<lock_keeper>(held_);
        const clock::steady_time soon = held_->engine().steady_now() + pause_after_failure;
        next->renew_at_ = std::min(next->renew_at_, soon);
        held_->engine().submit(std::move(next));
    } catch (...) { // NOLINT(bugprone-empty-catch): the lock ends at its time
    }
}

lock_loss_waiter::lock_loss_waiter(std::shared_ptr<held_lock> held)
    : waiter({}), held_(std::move(held)), accepts_(held_->line() + "loss")
{
}

bool lock_loss_waiter::has_work(sqlite::connection /*connection*/, clock::wall_time /*now*/)
{
    return !held_->is_held();
}

std::optional<clock::wall_time> lock_loss_waiter::look_again() const noexcept
{
    return std::min(from_seconds(held_->expires_at()),
                    held_->engine().on_the_wall(held_->held_until()));
}

} // namespace skein::api
