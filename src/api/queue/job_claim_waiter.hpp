#pragma once

#include "api/queue/job_lease.hpp"
#include "runtime/event_sink.hpp"
#include "runtime/waiter.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace skein::api {

/// A claim of at least one job.
class job_claim_waiter final : public runtime::waiter {
public:
    using result_type = std::vector<job>;

    /// Throws `errc::invalid_argument`.
    job_claim_waiter(std::shared_ptr<const queue_choice_state> where, std::size_t most,
                     const job_claim_options& options, runtime::patience how_long);

    runtime::source& origin() const noexcept override { return *where_->source; }
    const std::string& accepts() const noexcept override { return where_->accepts; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    runtime::serving serve(runtime::batch& batch, std::span<waiter* const> line) override;
    void committed() override;

    std::vector<job> result;

private:
    struct found_job {
        std::size_t queue = 0; ///< which of the choice
        store::claimed_job job;
    };

    /// What one claim has found for several waiters.
    struct found_jobs {
        std::vector<found_job> jobs;
        bool is_finished = true;
    };

    static runtime::serving serve_alike(runtime::batch& batch, std::span<waiter* const> alike,
                                        std::size_t share);
    [[nodiscard]] bool claims_like(const job_claim_waiter& other) const noexcept;
    [[nodiscard]] std::int64_t visibility_in(const queue_state& queue) const noexcept;
    void note_claims(runtime::batch& batch) const;
    void tell_claims(runtime::event_sink& told) const;
    [[nodiscard]] found_jobs claim(runtime::batch& batch, std::size_t most) const;

    std::shared_ptr<const queue_choice_state> where_;
    std::size_t most_;
    std::string worker_;
    std::optional<std::int64_t> visibility_; ///< seconds
    std::vector<found_job> claimed_;
};

} // namespace skein::api
