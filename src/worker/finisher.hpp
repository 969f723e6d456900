#pragma once

#include "worker/run_frame.hpp"

#include <skein/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

namespace skein::worker {

class finish_unit;

/// A task whose handler has ended, and what is to be written down.
struct ended_task {
    std::shared_ptr<task> what;
    verdict how;
};

/// Writes down what has come of the tasks of a run: those that end meanwhile go together into the
/// next commit. What fails is tried again, each by itself, after growing pauses, until its lease
/// has lapsed.
class finisher {
public:
    explicit finisher(run_frame& run) : run_(run) {}

    /// To be written down with the next `flush`.
    void add(ended_task ended) { fresh_.push_back(std::move(ended)); }
    void flush();

    /// From now on each is tried once more at most.
    void hurry();

    /// How many have failed, and still take a place.
    [[nodiscard]] std::size_t stuck() const noexcept { return stuck_.size() + retried_; }
    [[nodiscard]] bool is_idle() const noexcept;

private:
    void submit(std::vector<ended_task> tasks, bool is_retry);
    void note(finish_unit& done, bool is_retry, const std::exception_ptr& failure);
    void note_failure(std::vector<ended_task> tasks, const std::exception_ptr& failure);
    void retry();
    void set_pause();

    run_frame& run_;
    std::vector<ended_task> fresh_;
    std::vector<ended_task> stuck_; ///< have failed, and wait
    std::size_t retried_ = 0;       ///< have failed, and are tried again just now
    bool is_writing_ = false;       ///< those that are tried for the first time
    bool is_last_try_ = false;
    std::int64_t failures_ = 0; ///< in a row
    std::unique_ptr<skein::alarm> pause_;
};

} // namespace skein::worker
