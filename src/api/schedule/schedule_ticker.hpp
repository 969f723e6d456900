#pragma once

#include "api/schedule/scheduler_state.hpp"
#include "runtime/waiter.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace skein::api {

/// How long a scheduler leaves alone what has failed: longer from time to time.
struct tick_pause {
    std::chrono::seconds length{0};
    clock::steady_time until;
    /// The schedules that were due at this second have been tried, and some were refused. Those
    /// that come due later are served meanwhile. Nothing: everything has failed.
    std::optional<std::int64_t> tried = {};
    std::int64_t refused = 0; ///< how many of them were
};

/// Waits until a schedule is due, and enqueues the jobs of all that are.
class schedule_ticker final : public runtime::waiter {
public:
    /// `last`: what the ticker before it has left.
    schedule_ticker(std::shared_ptr<const scheduler_state> where,
                    const std::optional<tick_pause>& last);

    runtime::source& origin() const noexcept override { return *where_->store; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    std::optional<clock::wall_time> look_again() const noexcept override { return next_; }
    runtime::serving serve(runtime::batch& batch, std::span<waiter* const> line) override;
    void failed(const std::exception_ptr& failure) noexcept override;

    /// What the next ticker begins with, once this one has ended.
    [[nodiscard]] const std::optional<tick_pause>& pause() const noexcept { return pause_; }

private:
    [[nodiscard]] bool is_pausing() const noexcept;
    /// Whether those that are due at `last_->tried` are no others than the ones that were refused.
    [[nodiscard]] bool leaves_refused(schedule_statements& there) const;
    /// Whether a schedule is to be served; sets `next_` when none is.
    [[nodiscard]] bool is_due(schedule_statements& there, clock::wall_time now);
    void note_refusals(const store::tick_outcome& outcome, std::int64_t due, runtime::batch& batch);
    void warn_later(runtime::batch& batch, const std::string& text) const;
    [[nodiscard]] tick_pause longer_pause() const;

    std::shared_ptr<const scheduler_state> where_;
    std::string accepts_;
    const std::optional<tick_pause> last_;
    std::optional<tick_pause> pause_;
    std::optional<clock::wall_time> next_;
};

} // namespace skein::api
