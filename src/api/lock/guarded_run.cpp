#include "api/lock/guarded_run.hpp"

#include "api/lock/lock_keeper.hpp"
#include "runtime/await_run.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/failure.hpp"

#include <skein/clock.hpp>
#include <skein/error.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace skein::api {

namespace {

error lost_error(const named_lock_state& lock)
{
    return {errc::lock_lost, lock.engine->path().string() + ": lock '" + lock.name +
                                 "': it was lost, or released, before the work under it had ended"};
}

/// Two coroutines side by side: the work, and a wait for the loss of the lock. The end of one
/// cancels the other; when both have ended, the caller goes on. All of it happens on one strand, on
/// which the signals can be emitted.
///
/// The wait is the database's, and tells nothing while that is stopped; the lock's time passes all
/// the same. So there is an alarm, too.
class guarded_run : public std::enable_shared_from_this<guarded_run> {
public:
    guarded_run(const asio::any_io_executor& executor, std::shared_ptr<held_lock> held,
                asio::awaitable<void> work)
        : strand_(asio::make_strand(executor)), held_(std::move(held)), work_(std::move(work))
    {
    }

    // From any thread.

    void start(std::unique_ptr<runtime::caller> waiting)
    {
        caller_ = std::move(waiting);
        asio::post(strand_, [self = shared_from_this()] { self->begin(); });
    }

    void cancel()
    {
        asio::post(strand_, [self = shared_from_this()] { self->cancel_work(); });
    }

private:
    using end = void (guarded_run::*)(std::exception_ptr);

    void begin()
    {
        alarm_ = held_->engine().make_alarm(strand_);
        set_alarm();
        spawn(std::move(*work_), work_signal_, &guarded_run::note_work);
        spawn(runtime::await_operation(held_->lock().engine,
                                       std::make_shared<lock_loss_waiter>(held_)),
              loss_signal_, &guarded_run::note_loss);
    }

    void spawn(asio::awaitable<void> part, asio::cancellation_signal& signal, end note)
    {
        auto noted = [self = shared_from_this(), note](std::exception_ptr failure) {
            ((*self).*note)(std::move(failure));
        };
        asio::co_spawn(strand_, std::move(part),
                       asio::bind_cancellation_slot(
                           signal.slot(), asio::bind_executor(strand_, std::move(noted))));
    }

    void set_alarm()
    {
        const auto left = held_->held_until() - held_->engine().steady_now();
        alarm_->set(left, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->check_time();
            }
        });
    }

    void check_time()
    {
        if (work_end_ || loss_end_) {
            return;
        }
        if (held_->is_held()) {
            set_alarm(); // it was renewed
        } else {
            refusal_ = std::make_exception_ptr(lost_error(held_->lock()));
            cancel_work();
        }
    }

    void cancel_work() { work_signal_.emit(asio::cancellation_type::terminal); }

    void note_work(std::exception_ptr failure)
    {
        work_end_ = std::move(failure);
        if (!loss_end_ && !held_->is_held()) {
            refusal_ = std::make_exception_ptr(lost_error(held_->lock()));
        }
        loss_signal_.emit(asio::cancellation_type::terminal);
        finish_if_over();
    }

    void note_loss(std::exception_ptr failure)
    {
        loss_end_ = std::move(failure);
        if (!work_end_ && !refusal_) {
            // When it cannot be told any more, the work must not go on either.
            refusal_ = *loss_end_ ? *loss_end_ : std::make_exception_ptr(lost_error(held_->lock()));
            cancel_work();
        }
        finish_if_over();
    }

    /// Once the coroutines are gone, who hold what they have thrown, too: the caller may look at it
    /// on another thread.
    void finish_if_over()
    {
        if (work_end_ && loss_end_) {
            alarm_.reset();
            asio::post(strand_,
                       [self = shared_from_this()] { self->caller_->resume(self->outcome()); });
        }
    }

    /// What the work has thrown comes first, unless it was merely cancelled. Nobody else has it.
    [[nodiscard]] std::exception_ptr outcome()
    {
        const bool has_failed = *work_end_ != nullptr && !runtime::is_cancellation(*work_end_);
        std::exception_ptr told =
            refusal_ && !has_failed ? std::move(refusal_) : std::move(*work_end_);
        work_end_.reset();
        loss_end_.reset();
        refusal_ = nullptr;
        return told;
    }

    asio::strand<asio::any_io_executor> strand_;
    std::shared_ptr<held_lock> held_;
    std::optional<asio::awaitable<void>> work_;
    std::unique_ptr<runtime::caller> caller_;
    std::unique_ptr<skein::alarm> alarm_;
    asio::cancellation_signal work_signal_;
    asio::cancellation_signal loss_signal_;
    std::optional<std::exception_ptr> work_end_;
    std::optional<std::exception_ptr> loss_end_;
    std::exception_ptr refusal_; ///< why the result of the work does not count
};

} // namespace

asio::awaitable<void> run_guarded(std::shared_ptr<held_lock> held, asio::awaitable<void> work)
{
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    auto run = std::make_shared<guarded_run>(executor, std::move(held), std::move(work));
    co_await runtime::await_run(std::move(run));
}

} // namespace skein::api
