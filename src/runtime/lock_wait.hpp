#pragma once

#include <skein/clock.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>

namespace skein::runtime {

/// Waiting for a lock that another process holds, without blocking a thread: a pause, then another
/// try. The pauses are short and random; growing ones lose against programs that ask all the time.
class lock_wait {
public:
    lock_wait(std::unique_ptr<alarm> timer, std::function<void()> try_again);

    /// Tries again after a pause.
    void pause();

    /// Ends the pause and owes nobody anything: there is no later.
    void forgive() noexcept;

    [[nodiscard]] bool is_pausing() const noexcept { return is_pausing_; }

    /// A wait for the lock, from the first refusal on.
    struct wait {
        clock::steady_time since;
        std::size_t timed_out = 0; ///< operations that have given up
    };

    /// The lock was held by another: once it has been ours, the others get a turn.
    void note_contention(clock::steady_time now, std::size_t timed_out) noexcept
    {
        met_contention_ = true;
        wait_ = wait_.value_or(wait{now});
        wait_->timed_out += timed_out;
    }
    /// Whether it was refused, and `end_wait` was not called since.
    [[nodiscard]] bool is_awaited() const noexcept { return wait_.has_value(); }
    /// Nobody waits for it any more.
    wait end_wait() noexcept { return std::exchange(wait_, std::nullopt).value_or(wait{}); }

    /// The lock has been ours.
    void note_success() noexcept { owes_gap_ = std::exchange(met_contention_, false); }
    /// Whether a pause is owed to the others; asking settles it.
    [[nodiscard]] bool owes_a_gap() noexcept { return std::exchange(owes_gap_, false); }

private:
    std::unique_ptr<alarm> timer_;
    std::function<void()> try_again_;
    std::minstd_rand random_{std::random_device{}()};
    std::optional<wait> wait_;
    bool is_pausing_ = false;
    bool met_contention_ = false;
    bool owes_gap_ = false;
};

} // namespace skein::runtime
