#pragma once

#include <exception>

namespace benchmarks {

/// The completion handler of a spawned coroutine: its failure comes out of `io_context::run`.
inline void rethrow(std::exception_ptr failure)
{
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace benchmarks
