#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/job_burial.hpp"
#include "store/queue/job_enqueuer.hpp"
#include "store/schedule/schedule.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// A job that a schedule has enqueued.
struct schedule_fire {
    std::string name; ///< of the schedule
    std::string queue;
    std::int64_t fire_at = 0; ///< the moment that it is for, in epoch seconds
    std::int64_t job = 0;     ///< its number

    bool operator==(const schedule_fire&) const = default;
};

/// Enqueues the jobs of a schedule's moments.
class schedule_jobs {
public:
    explicit schedule_jobs(sqlite::connection connection);

    /// Gives each of the moments its job, as long as runs are left and nothing overlaps, and counts
    /// that in `firing`, which is not written back. The jobs join `fires`. They are enqueued at
    /// `now`. A payload that is no JSON makes dead letters, which are counted but are no fires.
    ///
    /// Wants a write transaction with a savepoint.
    void fire(schedule& firing, std::span<const std::int64_t> moments, std::int64_t now,
              std::vector<schedule_fire>& fires);

private:
    std::int64_t enqueue(const schedule& firing, std::int64_t now);
    std::int64_t bury(const schedule& firing, std::string_view defect, std::int64_t moment,
                      std::int64_t now);
    [[nodiscard]] bool must_wait(const schedule& firing);

    job_enqueuer enqueuer_;
    job_burial burial_;
    sqlite::statement find_live_;
};

} // namespace skein::store
