#pragma once

#include "runtime/engine.hpp"
#include "runtime/waiter.hpp"
#include "worker/lease_book.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <string>

namespace skein::worker {

/// Extends the leases of one run, all of them together, time after time, for as long as there are
/// any. Nobody awaits it.
class lease_keeper final : public runtime::waiter {
public:
    /// `pause`: from one heartbeat to the next.
    lease_keeper(std::shared_ptr<runtime::engine> engine, std::shared_ptr<lease_book> book,
                 std::chrono::nanoseconds pause);

    runtime::source& origin() const noexcept override { return *origin_; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool heeds_others() const noexcept override { return false; }
    /// When there is nothing to extend: it ends.
    bool only_reads() const noexcept override { return is_over_; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    std::optional<clock::wall_time> look_again() const noexcept override;
    runtime::serving serve(runtime::batch& batch, std::span<waiter* const> line) override;
    void failed(const std::exception_ptr& failure) noexcept override;

private:
    [[nodiscard]] bool is_due() const noexcept;
    void extend_all(runtime::batch& batch) const;

    std::shared_ptr<runtime::engine> engine_;
    std::shared_ptr<runtime::source> origin_;
    std::shared_ptr<lease_book> book_;
    std::string accepts_;
    std::chrono::nanoseconds pause_;
    clock::steady_time next_;
    bool is_over_ = false;
};

} // namespace skein::worker
