#pragma once

#include "api/seconds.hpp"

#include <skein/error.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace skein::api {

/// When a job is to be due, as a user says it: by a delay, by a time, or by neither.
class due_time {
public:
    /// Throws `errc::invalid_argument` when both are given.
    due_time(std::optional<std::chrono::seconds> delay, std::optional<clock::wall_time> run_at)
    {
        if (delay && run_at) {
            throw error(errc::invalid_argument,
                        "delay and run_at: both are given; one of them is accepted");
        }
        if (delay) {
            delay_ = delay->count();
        }
        if (run_at) {
            run_at_ = to_seconds_or_later(*run_at);
        }
    }

    /// In seconds.
    [[nodiscard]] const std::optional<std::int64_t>& delay() const noexcept { return delay_; }
    /// In epoch seconds.
    [[nodiscard]] const std::optional<std::int64_t>& run_at() const noexcept { return run_at_; }

private:
    std::optional<std::int64_t> delay_;
    std::optional<std::int64_t> run_at_;
};

} // namespace skein::api
