#pragma once

#include "api/transport/transport_state.hpp"
#include "worker/failure_counts.hpp"
#include "worker/run_settings.hpp"
#include "worker/task_source.hpp"

#include <memory>

namespace skein::worker {

/// Messages of a transport.
class message_source final : public task_source {
public:
    /// Throws `errc::invalid_argument`.
    message_source(std::shared_ptr<const api::transport_state> where, run_settings settings,
                   handler_function<message> handler);

    const std::shared_ptr<runtime::engine>& engine() const noexcept override
    {
        return where_->engine;
    }
    const char* things() const noexcept override { return "messages"; }
    duration shortest_lease() const noexcept override;
    task_claim make_claim(std::size_t most, runtime::patience how_long) override;
    asio::awaitable<handled> handle(task& claimed) override;
    void note_end(const task& ended, const verdict& how, task_end end) override;

private:
    std::shared_ptr<const api::transport_state> where_;
    const run_settings settings_;
    const handler_function<message> handler_;
    failure_counts failures_;
};

} // namespace skein::worker
