#pragma once

#include "runtime/caller.hpp"
#include "worker/finisher.hpp"
#include "worker/intake.hpp"
#include "worker/lease_book.hpp"
#include "worker/run_frame.hpp"
#include "worker/running_handlers.hpp"

#include <skein/clock.hpp>
#include <skein/testing/drain.hpp>

#include <exception>
#include <memory>
#include <vector>

namespace skein::worker {

/// One call of `run`: tasks go from the intake to the handlers, and from there to the finisher. A
/// task takes a place until it is given to the finisher, and once more when that fails: then the
/// next claim goes into the same commit as the end of the last.
class worker_run final : public run_frame {
public:
    using run_frame::run_frame;

    // From any thread.

    /// `waiting` is resumed at the end.
    void start(std::unique_ptr<runtime::caller> waiting);
    /// Asks for a stop, or, the second time, for a faster one.
    void cancel();

    /// Once it has ended.
    [[nodiscard]] const testing::drain_counts& counts() const noexcept { return counts_; }

private:
    void note_claimed(std::vector<std::shared_ptr<task>> claimed) override;
    void note_handled(std::shared_ptr<task> what, handled came, cancel_reason why) override;
    void note_ended(const task& what, const verdict& how, task_end end) override;
    void note_given_up(const task& what) override;
    void note_final_failure(std::exception_ptr failure) override;
    void note_change() override;

    [[nodiscard]] std::shared_ptr<worker_run> self();
    void hold(const std::shared_ptr<task>& claimed);
    void set_bell();
    void take_news();
    [[nodiscard]] verdict judge_call(const task& what, handled came, cancel_reason why);
    void go_on();
    [[nodiscard]] std::size_t free_places() const noexcept;
    void stop(clock::steady_time at);
    void cancel_handlers();
    void abandon_handlers();
    void set_deadline(std::chrono::nanoseconds since_stop, void (worker_run::*then)());
    void end_if_over();

    std::unique_ptr<runtime::caller> caller_; ///< until the end
    const std::shared_ptr<lease_book> leases_ = std::make_shared<lease_book>();
    intake intake_{*this};
    running_handlers handlers_{*this};
    finisher finisher_{*this};
    testing::drain_counts counts_;
    bool is_change_noted_ = false;
    bool is_stopping_ = false;
    clock::steady_time stopped_at_;
    std::unique_ptr<skein::alarm> deadline_;
    std::exception_ptr failure_; ///< what it ends with
};

} // namespace skein::worker
