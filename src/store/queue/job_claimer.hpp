#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/held_jobs.hpp"
#include "store/queue/job_fence.hpp"
#include "store/queue/queue_housekeeping.hpp"
#include "store/queue/queue_pauses.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// Who claims, from where, and for how long.
struct job_claim {
    std::string_view queue;
    std::string_view worker_id;
    /// Seconds until the lease lapses. It has already when they are negative.
    std::int64_t visibility = 0;
};

/// A job that has been claimed. Times are epoch seconds.
struct claimed_job {
    job_fence fence;
    std::string payload;
    std::int64_t max_attempts = 0; ///< this attempt is the last when `fence.attempts` is as many
    std::int64_t claimed_at = 0;
    std::int64_t claim_expires_at = 0; ///< the last second in which the lease holds
    std::int64_t run_at = 0;           ///< when it was due
};

/// Leases the jobs of a queue. A job may be claimed when it is due and ready, or when its lease has
/// lapsed; when it has attempts left; and when it has not expired.
class job_claimer {
public:
    explicit job_claimer(sqlite::connection connection);

    /// Whether a claim would do anything, be it housekeeping. Only reads.
    [[nodiscard]] bool has_work(std::string_view queue, std::int64_t now);

    /// Does the housekeeping, then leases at most `most` jobs, all that there are when that is
    /// negative. They come in the order of their claim: the highest priority first, then who was
    /// due first, then who was enqueued first. Each counts as an attempt from here on. Wants a
    /// write transaction with a savepoint.
    [[nodiscard]] std::vector<claimed_job> claim(const job_claim& claim, std::int64_t most,
                                                 std::int64_t now);

    /// What a claim has found that does not walk past everything.
    struct some_jobs {
        std::vector<claimed_job> jobs;
        bool is_finished = true; ///< whether there are no more than these
    };

    /// As `claim`, but where more jobs have expired than one housekeeping takes out of the way, it
    /// does not walk past those that are left, however many they are: called again, it goes on. So
    /// it does where more are due than one housekeeping makes ready, and where the queue has just
    /// been paused and its jobs are still being put aside.
    [[nodiscard]] some_jobs claim_some(const job_claim& claim, std::int64_t most, std::int64_t now);

    /// Whether the housekeeping of the last claim may have made dead letters.
    [[nodiscard]] bool may_have_buried() const noexcept { return may_have_buried_; }

    /// The dead letters that it has made.
    [[nodiscard]] const std::vector<buried_job>& buried() const noexcept
    {
        return housekeeping_.buried();
    }

private:
    queue_housekeeping::chores keep_house(std::string_view queue, std::int64_t now);
    [[nodiscard]] sqlite::statement& choose(const queue_housekeeping::chores& done,
                                            std::int64_t most);
    [[nodiscard]] std::vector<claimed_job> run(sqlite::statement& statement, const job_claim& claim,
                                               std::int64_t most, std::int64_t now);

    void put_aside(std::string_view queue);

    queue_housekeeping housekeeping_;
    held_jobs held_;
    queue_pauses pauses_;
    bool may_have_buried_ = false;
    sqlite::statement find_ready_;
    sqlite::statement claim_one_ready_;
    sqlite::statement claim_many_ready_;
    sqlite::statement claim_one_;
    sqlite::statement claim_many_;
    sqlite::statement claim_near_;
};

} // namespace skein::store
