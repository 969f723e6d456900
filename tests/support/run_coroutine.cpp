#include "support/run_coroutine.hpp"

#include <skein/testing/manual_clock.hpp>

#include <asio/io_context.hpp>

namespace skein::support {

void settle(asio::io_context& context)
{
    context.restart();
    while (context.poll() != 0) {
        context.restart();
    }
}

void run_until(asio::io_context& context, const std::function<bool()>& is_done)
{
    context.restart();
    while (!is_done()) {
        if (context.run_one() == 0) {
            throw std::runtime_error("the context ran out of work before the coroutine ended");
        }
    }
}

void run_until(asio::io_context& context, testing::manual_clock& clock,
               const std::function<bool()>& is_done, std::chrono::nanoseconds step)
{
    std::chrono::nanoseconds passed{0};
    settle(context);
    while (!is_done()) {
        if (passed > std::chrono::hours{24}) {
            throw std::runtime_error("the coroutine did not end within a day of its clock");
        }
        clock.advance(step);
        passed += step;
        settle(context);
    }
}

} // namespace skein::support
