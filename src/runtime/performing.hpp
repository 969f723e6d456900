#pragma once

#include "runtime/caller.hpp"
#include "runtime/engine.hpp"
#include "runtime/failure.hpp"
#include "runtime/operation.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/bind_executor.hpp>
#include <asio/post.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace skein::runtime {

/// Runs an operation for who is no coroutine: calls `then(failure)` on the executor when it is
/// complete; never when the executor's context has ended.
template <class Then>
void perform(engine& where, const asio::any_io_executor& executor,
             std::shared_ptr<operation> wanted, Then then)
{
    if (where.is_left_behind()) {
        // Without what keeps callers: that has mutexes.
        asio::post(executor, [then = std::move(then),
                              failure = std::make_exception_ptr(forked_error(
                                  where.path().string()))]() mutable { then(std::move(failure)); });
        return;
    }
    wanted->set_caller(make_caller(asio::bind_executor(executor, std::move(then))));
    where.submit(std::move(wanted));
}

} // namespace skein::runtime
