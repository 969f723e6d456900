#pragma once

#include "api/lock/held_lock.hpp"
#include "runtime/waiter.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace skein::api {

/// Waits until a lock is free, and takes it.
class lock_waiter final : public runtime::waiter {
public:
    using result_type = std::optional<lock_guard>;

    lock_waiter(std::shared_ptr<const named_lock_state> lock, runtime::patience how_long);

    runtime::source& origin() const noexcept override { return *lock_->store; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    std::optional<clock::wall_time> look_again() const noexcept override { return free_at_; }
    runtime::serving serve(runtime::batch& batch, std::span<waiter* const> line) override;
    void committed() override;

    std::optional<lock_guard> result;

private:
    std::shared_ptr<const named_lock_state> lock_;
    std::string accepts_;
    std::shared_ptr<held_lock> held_;         ///< made when it is its turn
    std::optional<clock::wall_time> free_at_; ///< if nobody renews it
};

/// A holder with an owner's name that no other holder has.
[[nodiscard]] std::shared_ptr<held_lock>
make_holder(const std::shared_ptr<const named_lock_state>& lock);

} // namespace skein::api
