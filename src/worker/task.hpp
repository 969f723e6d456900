#pragma once

#include "runtime/batch.hpp"
#include "worker/verdict.hpp"

#include <skein/clock.hpp>

#include <atomic>
#include <cstdint>

namespace skein::worker {

/// What a heartbeat has found.
enum class heartbeat {
    extended,
    stop_requested, ///< extended, and somebody has asked its handler to stop
    lost,           ///< the job is not ours any more
    failed,         ///< SQLite has refused for this one; the next heartbeat tries again
};

/// One job or message that a worker has, and the lease on it. Dropping it gives it back.
class task {
public:
    task() = default;
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    virtual ~task() = default;

    // From any thread.

    /// Which attempt this is, counted from 1.
    [[nodiscard]] virtual std::int64_t attempt() const noexcept = 0;
    /// Whether its handler has finished it, or tried to.
    [[nodiscard]] virtual bool is_settled() const noexcept = 0;
    /// Whether the lease does not hold any more, unless nobody has noticed.
    [[nodiscard]] virtual bool has_lapsed(clock::wall_time now) const noexcept = 0;

    /// Whether to extend the lease: also while its end is to be written down.
    [[nodiscard]] bool needs_extending() const noexcept
    {
        return !is_lost_ && (is_ending_ || !is_settled());
    }
    /// Whether its handler wants to know that it is lost: an end says so by itself.
    [[nodiscard]] bool is_in_hand() const noexcept { return !is_ending_ && !is_settled(); }
    void note_lost() noexcept { is_lost_ = true; }

    // Once its handler has ended.

    /// Whether the handler has moved it away: somebody else will finish it.
    [[nodiscard]] virtual bool is_moved_away() const noexcept = 0;

    /// `how` is to be written down. What is done is not to be repeated: dropping it does not give
    /// it back any more.
    virtual void begin_end(const verdict& how) noexcept = 0;

    // Inside a batch.

    [[nodiscard]] virtual heartbeat extend(runtime::batch& batch) = 0;
    [[nodiscard]] virtual task_end finish(runtime::batch& batch, const verdict& how) = 0;

protected:
    void note_ending() noexcept { is_ending_ = true; }

private:
    std::atomic<bool> is_ending_ = false;
    std::atomic<bool> is_lost_ = false;
};

} // namespace skein::worker
