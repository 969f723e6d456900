#pragma once

#include <asio/awaitable.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <system_error>

namespace skein::support {

/// Holds coroutines up until it is opened. Used on the thread that runs the context.
class gate {
public:
    explicit gate(asio::io_context& context)
        : never_(context, asio::steady_timer::time_point::max())
    {
    }

    /// Throws `operation_aborted` when it is cancelled.
    asio::awaitable<void> pass()
    {
        ++waiting_;
        asio::error_code ended;
        if (!is_open_) {
            co_await never_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
        }
        --waiting_;
        if (!is_open_) {
            throw std::system_error(asio::error::operation_aborted);
        }
    }

    void open()
    {
        is_open_ = true;
        never_.cancel();
    }

    /// How many are held up just now.
    [[nodiscard]] int waiting() const noexcept { return waiting_; }

private:
    asio::steady_timer never_;
    bool is_open_ = false;
    int waiting_ = 0;
};

} // namespace skein::support
