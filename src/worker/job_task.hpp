#pragma once

#include "api/queue/job_lease.hpp"
#include "worker/task.hpp"

#include <skein/job.hpp>

#include <cstdint>
#include <memory>

namespace skein::worker {

class job_task final : public task {
public:
    /// `visibility`, `result_ttl`: in seconds; a result without end has 0.
    job_task(job claimed, std::int64_t visibility, std::int64_t result_ttl);

    [[nodiscard]] job& handle() noexcept { return handle_; }

    std::int64_t attempt() const noexcept override { return *lease_->fence.attempts; }
    bool is_settled() const noexcept override { return lease_->is_kept; }
    bool has_lapsed(clock::wall_time now) const noexcept override;
    bool is_moved_away() const noexcept override { return !handle_; }
    void begin_end(const verdict& how) noexcept override;
    heartbeat extend(runtime::batch& batch) override;
    task_end finish(runtime::batch& batch, const verdict& how) override;

private:
    void keep_result(runtime::batch& batch, const std::string& result) const;

    job handle_;
    const std::shared_ptr<api::job_lease> lease_; ///< also once the handler has moved the job away
    const std::int64_t visibility_;
    const std::int64_t result_ttl_;
};

} // namespace skein::worker
