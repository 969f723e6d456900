#pragma once

#include "store/queue/job_claimer.hpp"
#include "store/queue/job_enqueuer.hpp"
#include "store/queue/job_finisher.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skein::store {

/// What a queue is to its users, in the plainest words: no tables, no indexes, no cost. The store
/// is held to it.
class queue_model {
public:
    std::int64_t enqueue(const new_job& job, std::int64_t now);
    std::vector<claimed_job> claim(const std::string& worker, std::int64_t visibility,
                                   std::int64_t most, std::int64_t now);
    [[nodiscard]] std::optional<std::int64_t> next_claim_at(std::int64_t now) const;
    std::int64_t sweep_expired(std::int64_t now);

    bool ack(const job_fence& fence, std::int64_t now);
    retry_outcome retry(const job_fence& fence, std::int64_t delay, const std::string& error,
                        std::int64_t now);
    bool fail(const job_fence& fence, const std::string& error, std::int64_t now);
    bool extend(const job_fence& fence, std::int64_t seconds, std::int64_t now);
    bool release(const job_fence& fence, std::int64_t now);
    bool snooze(const job_fence& fence, std::int64_t delay, std::int64_t now);
    bool cancel(std::int64_t id);
    std::optional<std::int64_t> redrive(std::int64_t id, std::int64_t now);

    /// A line for each live job and each dead letter, by number.
    [[nodiscard]] std::vector<std::string> live() const;
    [[nodiscard]] std::vector<std::string> dead() const;

private:
    struct lease {
        std::string worker;
        std::int64_t end;
        std::int64_t begin;
    };

    struct stored_job {
        std::string payload;
        std::string state;
        std::int64_t priority;
        std::int64_t run_at;
        std::int64_t attempts;
        std::int64_t max_attempts;
        std::optional<std::int64_t> expires_at;
        std::optional<lease> held;
    };

    struct stored_letter {
        std::string payload;
        std::int64_t priority;
        std::int64_t attempts;
        std::int64_t max_attempts;
        std::string error;
        std::int64_t died_at;
    };

    using jobs = std::map<std::int64_t, stored_job>;

    static bool is_lapsed(const stored_job& job, std::int64_t now);
    static bool is_expired(const stored_job& job, std::int64_t now);
    /// The job, if the fence holds.
    jobs::iterator find(const job_fence& fence, std::int64_t now);
    void free(stored_job& job, std::int64_t delay, std::int64_t now);
    jobs::iterator bury(jobs::iterator which, const std::string& error, std::int64_t now);

    jobs live_;
    std::map<std::int64_t, stored_letter> dead_;
    std::int64_t last_id_ = 0;
};

} // namespace skein::store
