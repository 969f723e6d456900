#include "runtime/home_process.hpp"

#include <pthread.h>

#include <atomic>
#include <system_error>

namespace skein::runtime {

namespace {

// How many forks lie between the first process and this one.
std::atomic<std::uint64_t> forks{0};

void note_fork() noexcept
{
    forks.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

home_process::home_process()
{
    static const int refusal = pthread_atfork(nullptr, nullptr, &note_fork);
    if (refusal != 0) {
        throw std::system_error(refusal, std::generic_category(), "pthread_atfork");
    }
    forks_ = forks.load(std::memory_order_relaxed);
}

bool home_process::is_left() const noexcept
{
    return forks_ != forks.load(std::memory_order_relaxed);
}

} // namespace skein::runtime
