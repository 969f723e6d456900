#pragma once

#include "api/queue/job_lease.hpp"
#include "runtime/unit.hpp"

#include <skein/observer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skein::api {

/// A claim of a job, for who has to finish it.
struct held_claim {
    const queue_state& queue; ///< of the handle that it is done through
    const store::job_fence& fence;
    /// See `job_lease`; unknown where there is only the fence.
    std::optional<clock::steady_time> since = {};
};

/// What the holder of a claim does with the job, as its arguments tell it.
class finishing {
public:
    [[nodiscard]] static finishing ack();
    [[nodiscard]] static finishing retry(std::chrono::seconds delay, std::string_view error);
    [[nodiscard]] static finishing fail(std::string_view error);
    /// Throws `errc::invalid_argument`.
    [[nodiscard]] static finishing extend(std::chrono::seconds visibility);
    [[nodiscard]] static finishing release();
    [[nodiscard]] static finishing snooze(std::chrono::seconds delay);

    /// Does it, inside the batch's transaction, and tells who may wait for it, and the observer.
    /// What only a retry tells apart is `waiting` for the others.
    [[nodiscard]] retry_outcome apply(runtime::batch& batch, const held_claim& claim) const;

    /// As `apply`, inside a user's transaction: whole or not at all.
    [[nodiscard]] retry_outcome apply_in_transaction(runtime::batch& batch,
                                                     const held_claim& claim) const;

    /// Before it is tried: an acknowledged job is not to be repeated, whatever comes of it.
    void note_attempt(job_lease& lease) const noexcept;

    /// After it has been done, with this outcome, at `now`, in epoch seconds.
    void note_success(job_lease& lease, retry_outcome outcome, std::int64_t now) const noexcept;

    /// Whether it is a heartbeat, which learns that this claim was asked to stop.
    [[nodiscard]] bool learns_of_stop(runtime::batch& batch, const queue_state& where,
                                      const store::job_fence& fence) const;

private:
    enum class verb { ack, retry, fail, extend, release, snooze };

    explicit finishing(verb which, std::int64_t seconds = 0, std::string_view error = {});

    [[nodiscard]] retry_outcome run(store::job_finisher& finisher, const store::job_fence& fence,
                                    std::int64_t now) const;
    void touch(runtime::batch& batch, const held_claim& claim, retry_outcome outcome,
               int changed) const;
    void note(runtime::batch& batch, const held_claim& claim, retry_outcome outcome) const;
    void tell(observer& who, const job_attempt& about, retry_outcome outcome) const;
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::string_view last_error() const noexcept;

    verb verb_;
    std::int64_t seconds_;
    std::string error_;
};

/// Finishes one job by its fence.
class finish_unit final : public runtime::unit {
public:
    using result_type = retry_outcome;

    finish_unit(std::shared_ptr<const queue_state> where, store::job_fence fence, finishing how,
                std::optional<clock::steady_time> held_since = {})
        : where_(std::move(where)), fence_(std::move(fence)), how_(std::move(how)),
          held_since_(held_since)
    {
    }

    void run(runtime::batch& batch) override;

    /// When it was done, in epoch seconds.
    [[nodiscard]] std::int64_t done_at() const noexcept { return done_at_; }
    [[nodiscard]] const finishing& how() const noexcept { return how_; }
    [[nodiscard]] bool is_stop_requested() const noexcept { return is_stop_requested_; }

    retry_outcome result = retry_outcome::stale;

private:
    std::shared_ptr<const queue_state> where_;
    store::job_fence fence_;
    finishing how_;
    std::optional<clock::steady_time> held_since_;
    std::int64_t done_at_ = 0;
    bool is_stop_requested_ = false;
};

/// Finishes jobs of one database, each by its own fence.
class finish_many_unit final : public runtime::unit {
public:
    using result_type = std::vector<retry_outcome>;

    /// Throws `errc::invalid_argument` for an empty handle, and for a job of another database than
    /// that of `where`.
    finish_many_unit(const queue_state& where, std::span<const job> jobs, finishing how);

    void run(runtime::batch& batch) override;
    void committed() override;

    /// See `finishing`.
    void note_attempt() const noexcept;

    std::vector<retry_outcome> result;

private:
    std::vector<std::shared_ptr<job_lease>> leases_;
    std::vector<job_lease*> stopping_; ///< those of them that were asked to
    finishing how_;
    std::int64_t done_at_ = 0;
};

} // namespace skein::api
