#pragma once

#include "api/transport/message_lease.hpp"
#include "worker/task.hpp"

#include <skein/message.hpp>

#include <cstdint>
#include <memory>

namespace skein::worker {

class message_task final : public task {
public:
    /// `attempt`: as far as is known. `visibility` in seconds.
    message_task(message claimed, std::int64_t attempt, double visibility);

    [[nodiscard]] message& handle() noexcept { return handle_; }
    [[nodiscard]] std::int64_t seq() const noexcept { return lease_->fence.seq; }

    std::int64_t attempt() const noexcept override { return attempt_; }
    bool is_settled() const noexcept override { return lease_->is_kept; }
    bool has_lapsed(clock::wall_time now) const noexcept override;
    bool is_moved_away() const noexcept override { return !handle_; }
    void begin_end(const verdict& how) noexcept override;
    heartbeat extend(runtime::batch& batch) override;
    task_end finish(runtime::batch& batch, const verdict& how) override;

private:
    message handle_;
    const std::shared_ptr<api::message_lease> lease_;
    const std::int64_t attempt_;
    const double visibility_;
};

} // namespace skein::worker
