#pragma once

#include "runtime/caller.hpp"
#include "runtime/closing.hpp"
#include "runtime/engine.hpp"
#include "runtime/failure.hpp"
#include "runtime/operation.hpp"

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace skein::runtime {

/// Starts an operation on behalf of a coroutine.
///
/// The strand is not the coroutine's executor, so two things cross over: the result is posted back,
/// and a cancellation is posted there, whichever thread it is emitted on. The coroutine's slot
/// holds the operation weakly; asio clears it when the coroutine goes on.
struct start_operation {
    void (engine::*enter)(std::shared_ptr<operation>);

    template <class Handler>
    void operator()(Handler handler, std::shared_ptr<engine> engine,
                    std::shared_ptr<operation> wanted) const
    {
        if (engine->is_left_behind()) {
            refuse(std::move(handler), forked_error(engine->path().string()));
            return;
        }
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) {
            slot.assign([engine = std::weak_ptr(engine),
                         unwanted = std::weak_ptr(wanted)](asio::cancellation_type /*any*/) {
                const auto alive = engine.lock();
                const auto running = unwanted.lock();
                if (alive && running) {
                    alive->cancel(running);
                }
            });
        }
        wanted->set_caller(make_caller(std::move(handler)));
        ((*engine).*enter)(std::move(wanted));
    }

private:
    /// Straight to the executor, without what keeps callers: that has mutexes.
    template <class Handler>
    static void refuse(Handler handler, const error& reason)
    {
        const auto executor = asio::get_associated_executor(handler);
        asio::post(executor, [handler = std::move(handler),
                              failure = std::make_exception_ptr(reason)]() mutable {
            handler(std::move(failure));
        });
    }
};

/// Runs an operation and returns when it is complete. Nothing happens until it is awaited.
///
/// Throws from the call itself inside a callback of the database: see `require_outside_callback`.
inline asio::awaitable<void> await_operation(std::shared_ptr<engine> engine,
                                             std::shared_ptr<operation> wanted)
{
    engine->require_outside_callback();
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
        start_operation{&engine::submit}, asio::use_awaitable, std::move(engine),
        std::move(wanted));
}

/// Closes the database and returns when all is closed. A callback may start it, too.
inline asio::awaitable<void> await_closing(std::shared_ptr<engine> engine)
{
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
        start_operation{&engine::close}, asio::use_awaitable, std::move(engine),
        std::make_shared<closing>());
}

/// What an operation has brought, once it has run. Nothing suspends between the completion and the
/// return, so a result is never lost to a late cancellation.
template <class Operation>
asio::awaitable<typename Operation::result_type> take_result(asio::awaitable<void> run,
                                                             std::shared_ptr<Operation> wanted)
{
    co_await std::move(run);
    co_return std::move(wanted->result);
}

/// As `await_operation`, for operations that have a result.
template <class Operation>
asio::awaitable<typename Operation::result_type> await_result(std::shared_ptr<engine> engine,
                                                              std::shared_ptr<Operation> wanted)
{
    return take_result(await_operation(std::move(engine), wanted), wanted);
}

} // namespace skein::runtime
