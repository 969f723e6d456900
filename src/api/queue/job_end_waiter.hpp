#pragma once

#include "api/queue/results_state.hpp"
#include "runtime/waiter.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace skein::api {

/// Waits for the end of a job. Takes nothing; each job has a line of its own. All that it needs to
/// be told is there in every shape of the tables that have the format.
class job_end_waiter final : public runtime::waiter {
public:
    using result_type = std::optional<job_end>;

    job_end_waiter(std::shared_ptr<const results_state> where, std::int64_t job_id,
                   runtime::patience how_long);

    runtime::source& origin() const noexcept override { return *where_->store; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    bool only_reads() const noexcept override { return !wants_upgrade_; }
    void share_with(waiter& other) const override;
    runtime::serving serve(runtime::batch& batch, std::span<waiter* const> line) override;

    std::optional<job_end> result;

private:
    [[nodiscard]] std::optional<job_end> look(queue_statements& there, clock::wall_time now) const;
    [[nodiscard]] std::optional<job_end> look_in(runtime::batch& batch) const;

    std::shared_ptr<const results_state> where_;
    std::int64_t job_id_;
    std::string accepts_;
    bool wants_upgrade_ = false; ///< the tables are of an older shape, and ours to upgrade
};

} // namespace skein::api
