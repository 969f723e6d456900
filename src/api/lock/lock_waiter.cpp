#include "api/lock/lock_waiter.hpp"

#include "api/seconds.hpp"
#include "store/saturating.hpp"

#include <array>
#include <cstdio>
#include <random>

namespace skein::api {

namespace {

/// What a lock that is held till then can make somebody wait for. Nothing of the past: a trigger of
/// the user's may keep the lock from being taken, though nobody has it.
std::optional<clock::wall_time> moment_after(clock::wall_time now, std::int64_t expires_at)
{
    const clock::wall_time moment = from_seconds(expires_at);
    return moment > now ? std::optional(moment) : std::nullopt;
}

std::string make_token()
{
    std::random_device random;
    std::array<char, 17> token{};
    std::snprintf(token.data(), token.size(), "%08x%08x", random(), random());
    return token.data();
}

} // namespace

std::shared_ptr<held_lock> make_holder(const std::shared_ptr<const named_lock_state>& lock)
{
    return std::make_shared<held_lock>(lock, lock->owner + '#' + make_token());
}

lock_waiter::lock_waiter(std::shared_ptr<const named_lock_state> lock, runtime::patience how_long)
    : waiter(how_long), lock_(std::move(lock)),
      accepts_(lock_line(lock_->name) + (lock_->create_schema ? '/' : ':'))
{
}

bool lock_waiter::has_work(sqlite::connection connection, clock::wall_time now)
{
    store::named_locks* const there = lock_->store->find(connection, lock_->create_schema);
    if (there == nullptr) {
        return true; // there is something to do for who takes it: to make the tables
    }
    const std::optional<std::int64_t> expiry = there->next_expiry(lock_->name, to_seconds(now));
    free_at_ = expiry ? moment_after(now, *expiry) : std::nullopt;
    return !expiry;
}

runtime::serving lock_waiter::serve(runtime::batch& batch, std::span<waiter* const> /*line*/)
{
    if (held_ == nullptr) {
        held_ = make_holder(lock_);
    }
    const std::optional<std::int64_t> expiry = held_lock::take(held_, batch);
    if (expiry) {
        return {.served = 0, .look_again = moment_after(batch.now(), *expiry)};
    }
    // For the others of the line; they are told more exactly when they look.
    const std::int64_t soonest = store::saturating_add(to_seconds(batch.now()), lock_->ttl);
    return {.served = 1, .look_again = from_seconds(soonest)};
}

void lock_waiter::committed()
{
    result = held_lock::make_guard(held_);
}

} // namespace skein::api
