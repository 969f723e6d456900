#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skein::store {

/// A job to be enqueued. Times are epoch seconds; what would leave their range stops at its end.
struct new_job {
    std::string_view queue;
    std::string_view payload; ///< JSON text, stored byte for byte
    /// When the job is due. At once when neither is given; the delay, in seconds, wins over the
    /// time. One that is not of the future means at once, too, and still counts in the order.
    std::optional<std::int64_t> run_at = std::nullopt;
    std::optional<std::int64_t> delay = std::nullopt;
    std::int64_t priority = 0; ///< the highest first
    std::int64_t max_attempts = 3;
    /// Seconds from now until the job is worthless. It is dead at once when they are not positive.
    std::optional<std::int64_t> expires_in = std::nullopt;
};

/// Throw `store::invalid_argument` and `store::invalid_payload`.
void require_max_attempts(std::int64_t max_attempts);
void require_job(const new_job& job);

/// Adds jobs to queues, which need no making: a queue is the name that its jobs carry.
class job_enqueuer {
public:
    explicit job_enqueuer(sqlite::connection connection);

    /// Returns the job's number, which no job has had before. The job must be one that
    /// `require_job` accepts. Wants a write transaction.
    std::int64_t enqueue(const new_job& job, std::int64_t now);

private:
    sqlite::statement insert_;
    sqlite::connection connection_;
};

} // namespace skein::store
