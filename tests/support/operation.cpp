#include "support/operation.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/this_coro.hpp>

namespace skein::support {

namespace {

asio::awaitable<void> run_cancellable(asio::awaitable<void> work)
{
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    co_await std::move(work);
}

} // namespace

void spawn(asio::io_context& context, asio::awaitable<void> work, std::shared_ptr<completion> told)
{
    const asio::cancellation_slot slot = told->cancellation.slot();
    auto note = [told = std::move(told)](std::exception_ptr failure) {
        told->failure = std::move(failure);
        told->is_done = true;
    };
    asio::co_spawn(context, run_cancellable(std::move(work)),
                   asio::bind_cancellation_slot(slot, std::move(note)));
}

std::error_code code_of(const std::exception_ptr& failure)
{
    if (!failure) {
        return {};
    }
    try {
        std::rethrow_exception(failure);
    } catch (const std::system_error& known) {
        return known.code();
    }
}

} // namespace skein::support
