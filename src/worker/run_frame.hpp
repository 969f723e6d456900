#pragma once

#include "worker/run_settings.hpp"
#include "worker/task_source.hpp"

#include <asio/any_io_executor.hpp>

#include <exception>
#include <memory>
#include <random>
#include <vector>

namespace skein::worker {

/// What the parts of a run have in common, and what they tell it. All of it on the strand of the
/// run.
class run_frame : public std::enable_shared_from_this<run_frame> {
public:
    run_frame(asio::any_io_executor callers, std::shared_ptr<task_source> from, run_settings how);
    run_frame(const run_frame&) = delete;
    run_frame& operator=(const run_frame&) = delete;
    virtual ~run_frame() = default;

    virtual void note_claimed(std::vector<std::shared_ptr<task>> claimed) = 0;
    virtual void note_handled(std::shared_ptr<task> what, handled came, cancel_reason why) = 0;
    virtual void note_ended(const task& what, const verdict& how, task_end end) = 0;
    /// Nothing is known of what it has come to: its lease ends by itself.
    virtual void note_given_up(const task& what) = 0;
    /// One that no other try can repair.
    virtual void note_final_failure(std::exception_ptr failure) = 0;
    /// There may be something to do.
    virtual void note_change() = 0;

    [[nodiscard]] runtime::engine& engine() const noexcept { return *source->engine(); }
    /// Anything from 0 to 1.
    [[nodiscard]] double random() { return std::uniform_real_distribution<>(0, 1)(random_); }
    void warn(std::string text) const;

    const asio::any_io_executor executor; ///< the caller's
    const asio::any_io_executor strand;
    const std::shared_ptr<task_source> source;
    const run_settings settings;

private:
    std::mt19937_64 random_;
};

/// How long the database is left alone after so many failures in a row.
[[nodiscard]] std::chrono::nanoseconds pause_after_failures(std::int64_t failures, double random);

} // namespace skein::worker
