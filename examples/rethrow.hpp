#pragma once

#include <exception>

/// The completion handler of a coroutine that nobody awaits: its failure comes out of
/// `io_context::run()`. With `asio::detached` nobody would hear of it.
inline void rethrow(std::exception_ptr failure)
{
    if (failure) {
        std::rethrow_exception(failure);
    }
}
