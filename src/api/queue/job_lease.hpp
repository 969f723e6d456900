#pragma once

#include "api/queue/queue_state.hpp"

#include <skein/job.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace skein::api {

/// What a `job` handle refers to.
struct job_lease {
    job_lease(std::shared_ptr<const queue_state> owner, store::claimed_job claimed)
        : queue(std::move(owner)), fence(std::move(claimed.fence)),
          payload(std::move(claimed.payload)), max_attempts(claimed.max_attempts),
          claimed_at(claimed.claimed_at), expires_at(claimed.claim_expires_at)
    {
    }

    [[nodiscard]] static job make_job(std::shared_ptr<job_lease> lease)
    {
        return job(std::move(lease));
    }

    /// Null for an empty handle.
    [[nodiscard]] static const std::shared_ptr<job_lease>& of(const job& handle) noexcept
    {
        return handle.lease_;
    }

    const std::shared_ptr<const queue_state> queue;
    const store::job_fence fence;
    const std::string payload;
    const std::int64_t max_attempts;
    const std::int64_t claimed_at;        ///< epoch seconds
    std::atomic<std::int64_t> expires_at; ///< epoch seconds
    /// When it was handed out, where somebody observes; written before the handle is there.
    std::optional<clock::steady_time> held_since;
    /// Whether somebody has begun to handle the job, so that the attempt counts.
    std::atomic<bool> is_looked_at = false;
    /// Whether a heartbeat has learned that somebody wants the holder to stop.
    std::atomic<bool> is_stop_requested = false;
    /// Whether dropping the handle leaves the lease alone: it is over, or the work is done.
    std::atomic<bool> is_kept = false;
};

} // namespace skein::api
