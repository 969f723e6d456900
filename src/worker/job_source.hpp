#pragma once

#include "api/queue/queue_state.hpp"
#include "worker/run_settings.hpp"
#include "worker/task_source.hpp"

#include <memory>

namespace skein::worker {

/// Jobs of one or several queues.
class job_source final : public task_source {
public:
    /// Throws `errc::invalid_argument`.
    job_source(std::shared_ptr<const api::queue_choice_state> where, run_settings settings,
               handler_function<job> handler);

    const std::shared_ptr<runtime::engine>& engine() const noexcept override
    {
        return where_->engine();
    }
    const char* things() const noexcept override { return "jobs"; }
    duration shortest_lease() const noexcept override;
    task_claim make_claim(std::size_t most, runtime::patience how_long) override;
    asio::awaitable<handled> handle(task& claimed) override;
    void check_result(const std::string& result) const override;

private:
    [[nodiscard]] std::int64_t visibility_in(const api::queue_state& queue) const noexcept;

    std::shared_ptr<const api::queue_choice_state> where_;
    const run_settings settings_;
    const handler_function<job> handler_;
};

} // namespace skein::worker
