#pragma once

#include <skein/clock.hpp>

#include <functional>
#include <memory>
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

    /// The lock was held by another: once it has been ours, the others get a turn.
    void note_contention() noexcept { met_contention_ = true; }
    /// The lock has been ours.
    void note_success() noexcept { owes_gap_ = std::exchange(met_contention_, false); }
    /// Whether a pause is owed to the others; asking settles it.
    [[nodiscard]] bool owes_a_gap() noexcept { return std::exchange(owes_gap_, false); }

private:
    std::unique_ptr<alarm> timer_;
    std::function<void()> try_again_;
    std::minstd_rand random_{std::random_device{}()};
    bool is_pausing_ = false;
    bool met_contention_ = false;
    bool owes_gap_ = false;
};

} // namespace skein::runtime
