#include "api/schedule/scheduler_run.hpp"

#include "api/schedule/schedule_ticker.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/failure.hpp"

#include <exception>
#include <optional>

namespace skein::api {

asio::awaitable<void> run_scheduler(std::shared_ptr<const scheduler_state> where)
{
    std::optional<tick_pause> pause;
    while (true) {
        const auto ticker = std::make_shared<schedule_ticker>(where, pause);
        std::exception_ptr failure;
        try {
            co_await runtime::await_operation(where->engine, ticker);
        } catch (...) {
            failure = std::current_exception();
        }
        if (failure && runtime::is_final(failure)) {
            std::rethrow_exception(failure);
        }
        pause = ticker->pause();
    }
}

} // namespace skein::api
