#pragma once

#include "runtime/caller.hpp"

#include <asio/associated_cancellation_slot.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace skein::runtime {

/// Starts a run on behalf of a coroutine. The coroutine's slot holds it weakly; asio clears that
/// when the coroutine goes on.
struct start_run {
    template <class Handler, class Run>
    void operator()(Handler handler, std::shared_ptr<Run> run) const
    {
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) {
            slot.assign([run = std::weak_ptr(run)](asio::cancellation_type /*any*/) {
                if (const auto running = run.lock()) {
                    running->cancel();
                }
            });
        }
        run->start(make_caller(std::move(handler)));
    }
};

/// Starts something that goes on for long, with `run->start(caller)`, and returns when it resumes
/// that caller. All types of cancellation come down to `run->cancel()`, on the thread where they
/// are emitted.
template <class Run>
asio::awaitable<void> await_run(std::shared_ptr<Run> run)
{
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
        start_run{}, asio::use_awaitable, std::move(run));
}

} // namespace skein::runtime
