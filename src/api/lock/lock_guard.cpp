#include <skein/lock_guard.hpp>

#include "api/lock/guarded_run.hpp"
#include "api/lock/held_lock.hpp"
#include "api/misuse.hpp"
#include "api/seconds.hpp"
#include "api/small_unit.hpp"

namespace skein {

namespace {

using held_handle = std::shared_ptr<api::held_lock>;

} // namespace

lock_guard::lock_guard() noexcept = default;

lock_guard::lock_guard(held_handle held) noexcept : held_(std::move(held)) {}

lock_guard::lock_guard(lock_guard&& other) noexcept = default;

lock_guard& lock_guard::operator=(lock_guard&& other) noexcept
{
    if (this != &other) {
        drop();
        held_ = std::move(other.held_);
    }
    return *this;
}

lock_guard::~lock_guard()
{
    drop();
}

/// If even the release cannot be asked for, the lock ends at its time: nobody renews it any more.
void lock_guard::drop() noexcept
{
    if (held_ == nullptr || !held_->end()) {
        return;
    }
    try {
        const auto release = [held = held_](runtime::batch& batch) {
            return api::held_lock::release(held, batch);
        };
        held_->engine().submit(std::make_shared<api::small_unit<decltype(release)>>(release));
    } catch (...) { // NOLINT(bugprone-empty-catch): see above
    }
}

std::string_view lock_guard::name() const noexcept
{
    return held_->lock().name;
}

std::optional<std::int64_t> lock_guard::fence() const noexcept
{
    return held_->fence();
}

clock::wall_time lock_guard::expires_at() const noexcept
{
    return api::from_seconds(held_->expires_at());
}

bool lock_guard::is_held() const noexcept
{
    return held_ != nullptr && held_->is_held();
}

asio::awaitable<bool> lock_guard::renew()
{
    held_->engine().require_outside_callback("renew(tx)");
    return api::write(held_->lock().engine, [held = held_](runtime::batch& batch) {
        return api::held_lock::renew(held, batch);
    });
}

bool lock_guard::renew(transaction& tx)
{
    return api::held_lock::renew(held_, api::own_batch(tx.batch_, held_->engine()));
}

asio::awaitable<bool> lock_guard::release()
{
    held_->engine().require_outside_callback("release(tx)");
    return api::write(held_->lock().engine, [held = held_](runtime::batch& batch) {
        return api::held_lock::release(held, batch);
    });
}

bool lock_guard::release(transaction& tx)
{
    return api::held_lock::release(held_, api::own_batch(tx.batch_, held_->engine()));
}

asio::awaitable<void> lock_guard::run_work(asio::awaitable<void> work)
{
    held_->engine().require_outside_callback();
    return api::run_guarded(held_, std::move(work));
}

} // namespace skein
