#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/dead_letters.hpp"
#include "store/queue/held_jobs.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skein::store {

/// The states of a live job.
enum class job_state {
    pending,    ///< ready to be claimed
    scheduled,  ///< waits until it is due; moved by the first claim after that
    processing, ///< claimed, the lease having lapsed or not
};

/// A job that is not dead. Times are epoch seconds.
struct live_job {
    std::int64_t id = 0;
    std::string queue;
    std::string payload;
    std::string state; ///< as it is stored
    std::int64_t priority = 0;
    std::int64_t run_at = 0;
    /// When it is really due, if it is held: see `held_job_tables`.
    std::optional<std::int64_t> held_run_at;
    /// Of the claim that is under way, or whose lease has lapsed. The start is not known of claims
    /// by programs that do not write it.
    std::optional<std::string> worker_id;
    std::optional<std::int64_t> claim_expires_at;
    std::optional<std::int64_t> claimed_at;
    std::int64_t attempts = 0;
    std::int64_t max_attempts = 0;
    std::int64_t created_at = 0;
    std::optional<std::int64_t> expires_at;
};

/// A job as it is found, wherever it is.
using found_job = std::variant<std::monostate, live_job, dead_letter>;

/// A place in a list of live jobs: behind this job, as it was when it was listed.
struct job_position {
    job_position() = default; ///< before the first
    explicit job_position(const live_job& job);

    std::int64_t priority = std::numeric_limits<std::int64_t>::max();
    std::int64_t run_at = std::numeric_limits<std::int64_t>::min();
    std::int64_t claim_expires_at = std::numeric_limits<std::int64_t>::min();
    std::int64_t id = std::numeric_limits<std::int64_t>::min();
};

/// How much there is in a queue. Times are epoch seconds.
struct queue_counts {
    std::int64_t pending = 0;
    std::int64_t scheduled = 0;
    std::int64_t held = 0; ///< of those that are scheduled
    std::int64_t processing = 0;
    std::int64_t lapsed = 0; ///< of those that are processing
    std::int64_t dead = 0;
    /// Since when the one of the pending jobs has been due that has waited longest.
    std::optional<std::int64_t> oldest_ready;
    /// When the first of the scheduled jobs that are not held is due, or was if no claim has come
    /// since.
    std::optional<std::int64_t> next_due;
};

/// Looks at queues without changing anything. A caller that asks for several things at once reads
/// in one transaction.
class queue_inspection {
public:
    explicit queue_inspection(sqlite::connection connection);

    /// The job, if it is live.
    [[nodiscard]] std::optional<live_job> find_live(std::int64_t id);

    /// The job, or its dead letter.
    [[nodiscard]] found_job find(std::int64_t id);

    /// At most `limit` jobs of one state, those behind `after`: pending ones in the order of their
    /// claim, scheduled ones as they will be due, and those that are processing as their leases
    /// end. A page costs what is on it.
    [[nodiscard]] std::vector<live_job> list(std::string_view queue, job_state state,
                                             const job_position& after, std::int64_t limit);

    /// Reads an index entry of each job and dead letter of the queue.
    [[nodiscard]] queue_counts counts(std::string_view queue, std::int64_t now);

    /// The first name, in the order of their bytes, of a queue that has jobs or dead letters; the
    /// second form the first behind `after`. Nothing when there is none. Jobs in states that
    /// another program invented do not count. Reads a few index entries, however many jobs there
    /// are.
    [[nodiscard]] std::optional<std::string> first_name();
    [[nodiscard]] std::optional<std::string> next_name(std::string_view after);

private:
    [[nodiscard]] live_job with_due_time(live_job job);

    dead_letters dead_;
    held_jobs held_;
    sqlite::statement find_;
    sqlite::statement pending_at_;
    sqlite::statement pending_after_;
    sqlite::statement pending_below_;
    sqlite::statement scheduled_at_;
    sqlite::statement scheduled_after_;
    sqlite::statement processing_at_;
    sqlite::statement processing_after_;
    sqlite::statement count_pending_;
    sqlite::statement count_scheduled_;
    sqlite::statement count_processing_;
    sqlite::statement count_dead_;
    sqlite::statement first_name_;
    sqlite::statement next_name_;
};

} // namespace skein::store
