#pragma once

#include "support/operation.hpp"

#include <asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>

namespace asio {
class io_context;
}

namespace skein::testing {
class manual_clock;
}

namespace skein::support {

/// Runs the context until `is_done()`. Throws when the context has nothing left to do before that.
void run_until(asio::io_context& context, const std::function<bool()>& is_done);

/// Runs what is ready until nothing is; the clock moves by `step` whenever nothing is ready and
/// `is_done()` is still false. Throws when a whole day of the clock has passed.
void run_until(asio::io_context& context, testing::manual_clock& clock,
               const std::function<bool()>& is_done,
               std::chrono::nanoseconds step = std::chrono::milliseconds{100});

/// Runs what is ready until nothing is.
void settle(asio::io_context& context);

/// Runs the coroutine on the context to its end. Returns what it returns, throws what it throws.
template <class Result>
Result run_coroutine(asio::io_context& context, asio::awaitable<Result> work)
{
    operation<Result> started(context, std::move(work));
    run_until(context, [&] { return started.is_done(); });
    return started.result();
}

/// The same with a clock that moves only when nothing else can happen.
template <class Result>
Result run_coroutine(asio::io_context& context, testing::manual_clock& clock,
                     asio::awaitable<Result> work)
{
    operation<Result> started(context, std::move(work));
    run_until(context, clock, [&] { return started.is_done(); });
    return started.result();
}

} // namespace skein::support
