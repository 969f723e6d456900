#pragma once

#include "store/queue/job_changer.hpp"
#include "store/queue/job_enqueuer.hpp"
#include "store/queue/job_limits.hpp"
#include "store/queue/unique_jobs.hpp"

#include <cstdint>
#include <optional>

namespace skein::store {

/// What to do with the job that holds the key of one that is to be enqueued.
enum class on_conflict {
    skip,             ///< leave it as it is
    replace_payload,  ///< give it the new payload
    move_due_time,    ///< let it be due when the new one would be
    replace_and_move, ///< both
};

/// The keys of a job.
struct job_keys {
    std::optional<unique_key> unique = std::nullopt;
    store::on_conflict on_conflict = on_conflict::skip;
    std::optional<job_limit> limit = std::nullopt;

    [[nodiscard]] bool any() const noexcept { return unique || limit; }
};

/// What came of enqueuing a job.
enum class enqueue_outcome {
    created,
    skipped, ///< another job holds the key
    changed, ///< another job holds the key, and was changed
};

/// A job that was enqueued, or the one that holds its key.
struct enqueued_job {
    std::int64_t id = 0;
    enqueue_outcome outcome = enqueue_outcome::created;
};

/// Throws `store::invalid_argument`.
void require_keys(const job_keys& keys);

/// Creates the tables of these keys where they are missing, beside those of the queues. Runs inside
/// the caller's write transaction.
void create_tables_of(sqlite::connection connection, const job_keys& keys);

/// Enqueues jobs that have keys. The tables of the keys must be there.
class keyed_enqueuer {
public:
    explicit keyed_enqueuer(sqlite::connection connection);

    /// The job and its keys must be such as `require_job` and `require_keys` accept. Wants a write
    /// transaction with a savepoint.
    enqueued_job enqueue(const new_job& job, const job_keys& keys, std::int64_t now);

private:
    enqueued_job change_holder(std::int64_t holder, const new_job& job, on_conflict how,
                               std::int64_t now);

    job_enqueuer enqueuer_;
    job_changer changer_;
    unique_jobs unique_;
    job_limits limits_;
};

} // namespace skein::store
