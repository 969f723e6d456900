#pragma once

#include "worker/run_frame.hpp"

#include <skein/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace skein::worker {

/// Claims for the free places of a run: one claim at a time, for as many as are free then.
class intake {
public:
    explicit intake(run_frame& run) : run_(run) {}

    /// Begins a claim for so many, unless one is under way or the last has just failed.
    void want(std::size_t free);

    /// From now on nothing is claimed. The claim that is under way may still have got something.
    void stop();

    [[nodiscard]] bool is_idle() const noexcept { return claim_.wanted == nullptr; }

private:
    void note_claim(const std::exception_ptr& failure);
    void pause_after(const std::exception_ptr& failure);

    run_frame& run_;
    task_claim claim_; ///< the one that is under way
    bool is_stopped_ = false;
    std::int64_t failures_ = 0; ///< in a row
    std::unique_ptr<skein::alarm> pause_;
};

} // namespace skein::worker
