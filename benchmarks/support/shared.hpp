#pragma once

#include <semaphore.h>
#include <sys/mman.h>
#include <time.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace benchmarks {

/// A value that children which are started later share with this process.
template <class Value>
class shared {
public:
    shared()
    {
        void* const memory = ::mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::system_error(errno, std::generic_category(), "mmap");
        }
        value_ = new (memory) Value{};
    }

    shared(const shared&) = delete;
    shared& operator=(const shared&) = delete;

    ~shared()
    {
        value_->~Value();
        ::munmap(value_, sizeof(Value));
    }

    [[nodiscard]] Value* operator->() const noexcept { return value_; }
    [[nodiscard]] Value& operator*() const noexcept { return *value_; }

private:
    Value* value_;
};

/// Counts signals from one process to another; lives in shared memory.
class signals {
public:
    signals() { ::sem_init(&count_, 1, 0); }
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;
    ~signals() { ::sem_destroy(&count_); }

    void send(int how_many = 1)
    {
        for (int each = 0; each < how_many; ++each) {
            ::sem_post(&count_);
        }
    }

    /// Blocks until so many have been sent. Throws after a minute: nobody sends any more then.
    void await(int how_many = 1)
    {
        timespec limit{};
        ::clock_gettime(CLOCK_MONOTONIC, &limit);
        limit.tv_sec += 60;
        for (int each = 0; each < how_many; ++each) {
            while (::sem_clockwait(&count_, CLOCK_MONOTONIC, &limit) != 0) {
                if (errno != EINTR) {
                    throw std::system_error(errno, std::generic_category(), "sem_clockwait");
                }
            }
        }
    }

private:
    sem_t count_;
};

} // namespace benchmarks
