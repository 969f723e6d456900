#include "extension/watch/fork_guard.hpp"

#include <pthread.h>

#include <atomic>
#include <system_error>

namespace skein::extension {

namespace {

std::mutex guard;
std::atomic<std::uint64_t> forks{0};

void before_fork() noexcept
{
    guard.lock();
}

void after_fork() noexcept
{
    guard.unlock();
}

void begin_child() noexcept
{
    forks.fetch_add(1, std::memory_order_relaxed);
    guard.unlock();
}

} // namespace

std::unique_lock<std::mutex> hold_forks()
{
    static const int refusal = pthread_atfork(&before_fork, &after_fork, &begin_child);
    if (refusal != 0) {
        throw std::system_error(refusal, std::generic_category(), "pthread_atfork");
    }
    return std::unique_lock(guard);
}

std::uint64_t count_forks() noexcept
{
    return forks.load(std::memory_order_relaxed);
}

} // namespace skein::extension
