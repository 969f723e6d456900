#pragma once

#include <asio/awaitable.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/cancellation_type.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

namespace asio {
class io_context;
}

namespace skein::support {

/// How a coroutine that was started ended, if it has.
struct completion {
    asio::cancellation_signal cancellation;
    bool is_done = false;
    std::exception_ptr failure;
};

/// Starts `work` on the context; what happens is told in `told`. Every type of cancellation reaches
/// the coroutine.
void spawn(asio::io_context& context, asio::awaitable<void> work, std::shared_ptr<completion> told);

/// The code of a `std::system_error`; none when there was no failure. Rethrows anything else.
[[nodiscard]] std::error_code code_of(const std::exception_ptr& failure);

namespace detail {

template <class Result>
asio::awaitable<void> keep(asio::awaitable<Result> work,
                           std::shared_ptr<std::optional<Result>> kept)
{
    kept->emplace(co_await std::move(work));
}

struct nothing {};

} // namespace detail

/// A coroutine that runs on an io_context: whether it has ended, and how. Results may be move-only.
///
/// Dropping the operation lets the coroutine go on. Used on the thread that runs the context.
template <class Result>
class operation {
    static constexpr bool has_value = !std::is_void_v<Result>;
    using stored = std::conditional_t<has_value, Result, detail::nothing>;

public:
    operation(asio::io_context& context, asio::awaitable<Result> work)
    {
        if constexpr (has_value) {
            spawn(context, detail::keep(std::move(work), value_), completion_);
        } else {
            spawn(context, std::move(work), completion_);
        }
    }

    [[nodiscard]] bool is_done() const noexcept { return completion_->is_done; }

    [[nodiscard]] bool has_failed() const noexcept { return completion_->failure != nullptr; }

    /// The code it failed with, such as `errc::closed`; none when it has not failed (yet).
    [[nodiscard]] std::error_code error() const { return code_of(completion_->failure); }

    /// What it returned, once; rethrows what it threw. Throws when it has not ended.
    Result result()
    {
        if (!is_done()) {
            throw std::logic_error("the coroutine has not ended");
        }
        if (completion_->failure) {
            std::rethrow_exception(completion_->failure);
        }
        if constexpr (has_value) {
            return std::move(**value_);
        }
    }

    /// Asks the coroutine to end; what comes of it is seen once the context has run.
    void cancel(asio::cancellation_type type = asio::cancellation_type::terminal)
    {
        // The signal may end the coroutine, and with it the handler, before `emit` returns.
        const std::shared_ptr<completion> kept = completion_;
        kept->cancellation.emit(type);
    }

private:
    std::shared_ptr<completion> completion_ = std::make_shared<completion>();
    std::shared_ptr<std::optional<stored>> value_ = std::make_shared<std::optional<stored>>();
};

} // namespace skein::support
