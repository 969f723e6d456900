#pragma once

#include "runtime/caller.hpp"
#include "runtime/failure.hpp"

#include <atomic>
#include <exception>
#include <memory>

namespace skein::runtime {

class engine;

/// One call of a user's, from its start to its completion. It owns its arguments and its result.
///
/// It is created and cancelled on any thread; everything else happens on the strand. It takes
/// effect only between `begin` and `complete`; a cancellation that comes before is obeyed, one
/// that comes later is too late.
class operation {
public:
    operation() = default;
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    virtual ~operation() = default;

    /// Who is to be resumed at the end; nobody, if this is never called.
    void set_caller(std::unique_ptr<caller> waiting) noexcept { caller_ = std::move(waiting); }

    /// Asks for cancellation. From any thread; the strand looks at it when it would begin.
    void request_cancel() noexcept { cancel_requested_.store(true, std::memory_order_relaxed); }

    /// Whether it was cancelled, or its caller's context has ended: it should not begin any more.
    [[nodiscard]] bool is_unwanted() const noexcept
    {
        return cancel_requested_.load(std::memory_order_relaxed) || (caller_ && caller_->is_gone());
    }

    /// Called after the commit that made the operation's effect last, before the caller is resumed.
    virtual void committed() {}

    /// Called when it ends with a failure, before the caller is resumed.
    virtual void failed(const std::exception_ptr& /*failure*/) noexcept {}

    /// Runs a user's code, which may refer to what the caller's coroutine owns: that is there until
    /// the end. Throws `operation_aborted` when it is gone already.
    template <class Work>
    void run_for_caller(Work work)
    {
        struct unpin_at_end {
            caller* pinned;
            ~unpin_at_end()
            {
                if (pinned != nullptr) {
                    pinned->unpin();
                }
            }
        };
        if (caller_ && !caller_->pin()) {
            std::rethrow_exception(cancelled_failure());
        }
        const unpin_at_end guard{caller_.get()};
        work();
    }

    /// Ends the operation and resumes the caller. Only the first call counts.
    void complete(std::exception_ptr failure = nullptr);

    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

    /// Takes its place among the work of the engine.
    virtual void arrive(engine& engine, std::shared_ptr<operation> self) = 0;

    /// Leaves that place because of a cancellation; called only before the operation has begun.
    /// Returns false when it cannot be cancelled.
    virtual bool withdraw(engine& engine) = 0;

private:
    std::unique_ptr<caller> caller_;
    std::atomic<bool> cancel_requested_ = false;
    bool is_complete_ = false;
};

} // namespace skein::runtime
