#pragma once

#include "worker/run_frame.hpp"

#include <skein/clock.hpp>

#include <asio/cancellation_signal.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <unordered_map>
#include <vector>

namespace skein::worker {

/// The calls of the handler that have not ended.
class running_handlers {
public:
    explicit running_handlers(run_frame& run) : run_(run) {}

    void start(std::shared_ptr<task> what);

    /// Cancels one, if it has not ended, or all.
    void cancel(const task& what, cancel_reason why);
    void cancel_all(cancel_reason why);

    /// Leaves all of them behind: whatever they come to is not told any more. Returns what they
    /// were about.
    [[nodiscard]] std::vector<std::shared_ptr<task>> abandon();

    [[nodiscard]] std::size_t size() const noexcept { return calls_.size(); }

private:
    struct handler_call {
        handler_call(std::shared_ptr<task> claimed, const asio::any_io_executor& executor);

        const std::shared_ptr<task> what;
        const asio::any_io_executor strand;
        asio::cancellation_signal signal; ///< emitted on its strand
        cancel_reason reason = cancel_reason::none;
        std::unique_ptr<skein::alarm> limit;
        std::atomic<bool> is_abandoned = false;
    };

    void begin(const std::shared_ptr<handler_call>& call);
    void set_limit(const std::shared_ptr<handler_call>& call);
    static void cancel(const std::shared_ptr<handler_call>& call, cancel_reason why);
    void note_end(handler_call& ended, const std::exception_ptr& failure, handled came);

    run_frame& run_;
    std::unordered_map<const task*, std::shared_ptr<handler_call>> calls_;
};

} // namespace skein::worker
