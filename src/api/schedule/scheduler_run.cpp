#include "api/schedule/scheduler_run.hpp"

#include "api/schedule/schedule_ticker.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/failure.hpp"

#include <asio/cancellation_state.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <optional>

namespace skein::api {

asio::awaitable<void> run_scheduler(std::shared_ptr<const scheduler_state> where)
{
    const asio::cancellation_state cancellation = co_await asio::this_coro::cancellation_state;
    const asio::cancellation_type before = cancellation.cancelled();
    std::optional<tick_pause> pause;
    while (true) {
        const auto ticker = std::make_shared<schedule_ticker>(where, pause);
        std::exception_ptr failure;
        try {
            co_await runtime::await_operation(where->engine, ticker);
        } catch (...) {
            failure = std::current_exception();
        }
        // One that came when the tick had ended makes nothing fail: asio would throw at the next
        // await, but not for who has told it not to.
        if (cancellation.cancelled() != before) {
            failure = runtime::cancelled_failure();
        }
        if (failure && runtime::is_final(failure)) {
            std::rethrow_exception(failure);
        }
        pause = ticker->pause();
    }
}

} // namespace skein::api
