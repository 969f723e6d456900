#pragma once

#include "api/lock/held_lock.hpp"
#include "runtime/waiter.hpp"

#include <exception>
#include <memory>
#include <span>
#include <string>

namespace skein::api {

/// Renews a lock as long as it is held. Nobody awaits it.
class lock_keeper final : public runtime::waiter {
public:
    explicit lock_keeper(std::shared_ptr<held_lock> held);

    runtime::source& origin() const noexcept override { return *held_->lock().store; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool heeds_others() const noexcept override { return false; }
    /// When the lock is over there is nothing to renew: it ends.
    bool only_reads() const noexcept override { return !held_->is_held(); }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    std::optional<clock::wall_time> look_again() const noexcept override;
    runtime::serving serve(runtime::batch& batch, std::span<waiter* const> line) override;
    void failed(const std::exception_ptr& failure) noexcept override;

private:
    [[nodiscard]] bool is_due() const noexcept;

    std::shared_ptr<held_lock> held_;
    std::string accepts_;
    clock::steady_time renew_at_;
};

/// Waits until a lock is not held any more.
class lock_loss_waiter final : public runtime::waiter {
public:
    explicit lock_loss_waiter(std::shared_ptr<held_lock> held);

    runtime::source& origin() const noexcept override { return *held_->lock().store; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool heeds_others() const noexcept override { return false; }
    bool only_reads() const noexcept override { return true; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    std::optional<clock::wall_time> look_again() const noexcept override;

private:
    std::shared_ptr<held_lock> held_;
    std::string accepts_;
};

} // namespace skein::api
