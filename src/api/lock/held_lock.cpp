#include "api/lock/held_lock.hpp"

#include "api/lock/lock_keeper.hpp"
#include "api/seconds.hpp"
#include "store/saturating.hpp"

#include <algorithm>
#include <chrono>

namespace skein::api {

namespace {

// Longer than anything runs, and short enough to be counted in nanoseconds.
constexpr std::chrono::nanoseconds longest_hold = std::chrono::hours{24 * 365 * 100};

/// The whole seconds that hold the lock for its time at least: those of the file begin earlier than
/// now.
std::int64_t seconds_of(const named_lock_state& lock, clock::wall_time now)
{
    return store::saturating_add(lock.ttl, to_seconds_or_later(now) - to_seconds(now));
}

/// `since` was read before `now`: the lock does not seem to be held for longer than it is.
lock_time time_of(std::int64_t expires_at, clock::steady_time since, clock::wall_time now)
{
    const clock::wall_time end = from_seconds(expires_at);
    const std::chrono::nanoseconds left =
        end > now ? std::chrono::nanoseconds(end - now) : std::chrono::nanoseconds::zero();
    return {expires_at, since + std::min(left, longest_hold)};
}

} // namespace

held_lock::held_lock(std::shared_ptr<const named_lock_state> lock, std::string owner)
    : lock_(std::move(lock)), owner_(std::move(owner)), line_("held " + owner_ + ' ')
{
}

clock::steady_time held_lock::held_until() const noexcept
{
    return clock::steady_time(clock::steady_time::duration(held_until_));
}

std::chrono::nanoseconds held_lock::ttl() const noexcept
{
    return std::min(std::chrono::seconds{lock_->ttl},
                    std::chrono::duration_cast<std::chrono::seconds>(longest_hold));
}

bool held_lock::is_held() const noexcept
{
    // What a child process has is a copy, not the lock.
    return stage_ == stage::held && !engine().is_left_behind() &&
           engine().steady_now() < held_until() && to_seconds(engine().wall_now()) < expires_at_;
}

std::optional<std::int64_t> held_lock::take(const std::shared_ptr<held_lock>& self,
                                            runtime::batch& batch)
{
    const named_lock_state& lock = *self->lock_;
    const clock::wall_time now = batch.now();
    const store::lock_attempt attempt =
        lock.ready(batch).acquire(lock.name, self->owner_, seconds_of(lock, now), to_seconds(now));
    if (!attempt.is_held) {
        return attempt.expires_at;
    }
    self->fence_ = attempt.fence;
    batch.at_end([self, &batch] { confirm(self, batch); });
    return std::nullopt;
}

bool held_lock::renew(const std::shared_ptr<held_lock>& self, runtime::batch& batch)
{
    const named_lock_state& lock = *self->lock_;
    const clock::wall_time now = batch.now();
    const bool is_ours =
        self->may_be_held() &&
        lock.ready(batch).renew(lock.name, self->owner_, seconds_of(lock, now), to_seconds(now));
    if (is_ours) {
        batch.at_end([self, &batch] { confirm(self, batch); });
    } else {
        self->end();
        batch.touch_lines(self->line_);
    }
    return is_ours;
}

bool held_lock::release(const std::shared_ptr<held_lock>& self, runtime::batch& batch)
{
    const named_lock_state& lock = *self->lock_;
    // Also when its time is over: the row would stay, and be in nobody's way.
    const bool was_there = lock.ready(batch).release(lock.name, self->owner_);
    const bool is_ours = was_there && self->may_be_held();
    batch.touch_lines(lock_line(lock.name));
    batch.touch_lines(self->line_);
    batch.at_end([self, &batch] { confirm(self, batch); });
    return is_ours;
}

/// What is in the file at the end is what counts from the commit on: the user may have undone, with
/// a savepoint, what was done in between.
void held_lock::confirm(const std::shared_ptr<held_lock>& self, runtime::batch& batch)
{
    const clock::steady_time since = self->engine().steady_now();
    const clock::wall_time now = batch.now();
    store::named_locks* const there = self->lock_->store->still_there(batch);
    const std::optional<store::lock_state> found =
        there == nullptr ? std::nullopt : there->find(self->lock_->name);
    if (!found || found->owner != self->owner_) {
        batch.after_commit([self] { self->end(); });
        return;
    }
    const lock_time until = time_of(found->expires_at, since, now);
    batch.after_commit([self, until] {
        self->note(until);
        if (self->begin()) {
            self->engine().submit(std::make_shared<lock_keeper>(self));
        }
    });
}

bool held_lock::may_be_held() const noexcept
{
    return stage_ == stage::pending || is_held();
}

bool held_lock::end() noexcept
{
    return stage_.exchange(stage::over) != stage::over;
}

/// Returns false when it was held before, or its guard was dropped meanwhile.
bool held_lock::begin() noexcept
{
    stage before = stage::pending;
    return stage_.compare_exchange_strong(before, stage::held);
}

void held_lock::note(lock_time until) noexcept
{
    held_until_ = until.held_until.time_since_epoch().count();
    expires_at_ = until.expires_at;
}

std::string lock_line(std::string_view name)
{
    return "lock " + std::to_string(name.size()) + ':' + std::string(name) + '@';
}

} // namespace skein::api
