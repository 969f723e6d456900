#pragma once

#include <skein/database.hpp>

#include <asio/io_context.hpp>

#include <exception>
#include <iterator>
#include <list>
#include <thread>

namespace skein::stress {

/// Nobody cuts the power.
inline database_options quick()
{
    return {.durability = durability::off};
}

/// Some contexts, each with a thread of its own.
class contexts {
public:
    explicit contexts(int count)
    {
        for (int each = 0; each < count; ++each) {
            contexts_.emplace_back(1);
        }
    }

    asio::io_context& operator[](int number) { return *std::next(contexts_.begin(), number); }

    void run()
    {
        std::list<std::thread> threads;
        for (asio::io_context& each : contexts_) {
            threads.emplace_back([&each] { each.run(); });
        }
        for (std::thread& each : threads) {
            each.join();
        }
    }

private:
    std::list<asio::io_context> contexts_;
};

inline void rethrow(const std::exception_ptr& failure)
{
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace skein::stress
