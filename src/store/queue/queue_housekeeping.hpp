#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/job_burial.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace skein::store {

/// A job that time has made a dead letter.
struct buried_job {
    std::int64_t id = 0;
    std::string_view error; ///< `expired_error` or `exhausted_error`
};

/// What time does to the jobs of a queue, and nobody else: those that are due become ready; those
/// that have expired, and those whose last lease has lapsed, become dead letters. A job that has
/// expired while its lease still holds is left to its worker.
class queue_housekeeping {
public:
    explicit queue_housekeeping(sqlite::connection connection);

    /// What there is to do at `now`.
    struct chores {
        bool due = false;
        bool expired = false;
        bool lapsed = false; ///< leases, be there attempts left or not
        // After it was done: whether more of it may be left.
        bool more_due = false;
        bool more_expired = false;

        [[nodiscard]] bool any() const noexcept { return due || expired || lapsed; }
    };

    /// Only reads.
    [[nodiscard]] chores look(std::string_view queue, std::int64_t now);

    /// Does it for at most a thousand jobs of each kind, so that no claim holds the lock for long:
    /// the next ones do the rest. Returns what there was. Wants a write transaction with a
    /// savepoint.
    chores run(std::string_view queue, std::int64_t now);

    /// Makes dead letters of all jobs that have expired. Returns how many. Wants a write
    /// transaction with a savepoint.
    std::int64_t sweep_expired(std::string_view queue, std::int64_t now);

    /// The dead letters of the last `run` or `sweep_expired`.
    [[nodiscard]] const std::vector<buried_job>& buried() const noexcept { return buried_; }

private:
    std::int64_t bury(sqlite::execution chosen, std::string_view error, std::int64_t now);

    job_burial burial_;
    sqlite::statement look_;
    sqlite::statement make_ready_;
    sqlite::statement choose_expired_;
    sqlite::statement choose_lapsed_expired_;
    sqlite::statement choose_exhausted_;
    std::vector<buried_job> buried_;
};

} // namespace skein::store
