#pragma once

#include "runtime/context_life.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/associated_executor.hpp>
#include <asio/execution/outstanding_work.hpp>
#include <asio/post.hpp>
#include <asio/prefer.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

namespace skein::runtime {

/// The way back to a coroutine that awaits an operation.
///
/// The coroutine is resumed once, on its own executor, never inline; not at all when its context
/// has ended, which destroys it.
class caller {
public:
    caller(std::shared_ptr<context_life> life, std::shared_ptr<resumption> continuation)
        : life_(std::move(life)), continuation_(std::move(continuation))
    {
        life_->add(*this);
    }
    caller(const caller&) = delete;
    caller& operator=(const caller&) = delete;
    ~caller() { life_->remove(*this); }

    /// Whether the context has ended: nobody wants the result any more. From any thread.
    [[nodiscard]] bool is_gone() const noexcept { return is_gone_.load(std::memory_order_relaxed); }

    /// See `context_life`.
    [[nodiscard]] bool pin() { return life_->pin(); }
    void unpin() noexcept { life_->unpin(); }

    /// From any thread.
    void resume(std::exception_ptr failure) { life_->resume(*this, std::move(failure)); }

private:
    friend class context_life;

    std::shared_ptr<context_life> life_;
    std::shared_ptr<resumption> continuation_;
    std::atomic<bool> is_gone_ = false;
    bool is_listed_ = false;
    caller* previous_ = nullptr;
    caller* next_ = nullptr;
};

/// A completion handler of asio's as a continuation. Its executor counts as busy meanwhile, so that
/// `io_context::run` does not return before the coroutine has gone on.
template <class Handler>
class handler_resumption final : public resumption {
public:
    explicit handler_resumption(Handler handler)
        : executor_(asio::prefer(asio::any_io_executor(asio::get_associated_executor(handler)),
                                 asio::execution::outstanding_work.tracked)),
          handler_(std::move(handler))
    {
    }

    void post(std::shared_ptr<resumption> self, std::exception_ptr failure) override
    {
        asio::post(executor_,
                   [this, self = std::move(self), failure = std::move(failure)]() mutable {
                       Handler handler = std::move(handler_);
                       self.reset();
                       handler(std::move(failure));
                   });
    }

private:
    asio::any_io_executor executor_;
    Handler handler_;
};

template <class Handler>
std::unique_ptr<caller> make_caller(Handler handler)
{
    auto life = context_life::of(asio::get_associated_executor(handler).context());
    return std::make_unique<caller>(
        std::move(life), std::make_shared<handler_resumption<Handler>>(std::move(handler)));
}

} // namespace skein::runtime
