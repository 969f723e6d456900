#pragma once

#include "api/lock/named_lock_state.hpp"

#include <skein/lock_guard.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace skein::api {

/// Until when a lock is held: by whichever clock says so first.
struct lock_time {
    std::int64_t expires_at = 0;   ///< epoch seconds, as in the file
    clock::steady_time held_until; ///< no later than that, unless the wall clock leaps
};

/// What a `lock_guard` refers to. From any thread, except what changes the file.
class held_lock {
public:
    /// Not held yet: the transaction that takes it has not been committed.
    held_lock(std::shared_ptr<const named_lock_state> lock, std::string owner);

    [[nodiscard]] static lock_guard make_guard(std::shared_ptr<held_lock> held)
    {
        return lock_guard(std::move(held));
    }

    [[nodiscard]] const named_lock_state& lock() const noexcept { return *lock_; }
    [[nodiscard]] runtime::engine& engine() const noexcept { return *lock_->engine; }
    [[nodiscard]] const std::string& owner() const noexcept { return owner_; }
    [[nodiscard]] std::optional<std::int64_t> fence() const noexcept { return fence_; }
    [[nodiscard]] std::int64_t expires_at() const noexcept { return expires_at_; }
    [[nodiscard]] clock::steady_time held_until() const noexcept;
    /// How long it is held without being renewed; what is longer than anything runs is cut.
    [[nodiscard]] std::chrono::nanoseconds ttl() const noexcept;
    [[nodiscard]] bool is_held() const noexcept;

    /// What the lines of its keeper, and of those who wait for its loss, begin with.
    [[nodiscard]] const std::string& line() const noexcept { return line_; }

    // Inside a batch. What they do counts from the commit on.

    /// Takes the lock if it is free; when it is not, returns when it will be, in epoch seconds.
    static std::optional<std::int64_t> take(const std::shared_ptr<held_lock>& self,
                                            runtime::batch& batch);
    /// Both return false when the lock is not this holder's any more.
    static bool renew(const std::shared_ptr<held_lock>& self, runtime::batch& batch);
    static bool release(const std::shared_ptr<held_lock>& self, runtime::batch& batch);

    /// From now on it is not held: lost, or about to be released. Returns false when it was over
    /// before.
    bool end() noexcept;

private:
    enum class stage { pending, held, over };

    [[nodiscard]] bool may_be_held() const noexcept;
    static void confirm(const std::shared_ptr<held_lock>& self, runtime::batch& batch);
    bool begin() noexcept;
    void note(lock_time until) noexcept;

    const std::shared_ptr<const named_lock_state> lock_;
    const std::string owner_;
    const std::string line_;
    std::optional<std::int64_t> fence_; ///< does not change once the lock is held
    std::atomic<stage> stage_ = stage::pending;
    std::atomic<std::int64_t> expires_at_ = 0;
    std::atomic<clock::steady_time::rep> held_until_ = 0;
};

/// What the lines of those who wait for a lock begin with: one text for each name, which is not the
/// beginning of another's.
[[nodiscard]] std::string lock_line(std::string_view name);

} // namespace skein::api
