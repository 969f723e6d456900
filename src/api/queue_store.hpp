#pragma once

#include "runtime/batch.hpp"
#include "runtime/source.hpp"
#include "sqlite/savepoint.hpp"
#include "store/claim_forecast.hpp"
#include "store/dead_letters.hpp"
#include "store/job_canceller.hpp"
#include "store/job_claimer.hpp"
#include "store/job_ends.hpp"
#include "store/job_enqueuer.hpp"
#include "store/job_finisher.hpp"
#include "store/job_results.hpp"
#include "store/queue_housekeeping.hpp"
#include "store/queue_inspection.hpp"
#include "store/queue_schema.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace skein::api {

/// What is done with the queue's tables. Each statement is prepared when it is first used.
struct queue_statements {
    explicit queue_statements(sqlite::connection connection);

    store::job_enqueuer enqueuer;
    store::job_claimer claimer;
    store::claim_forecast forecast;
    store::queue_housekeeping housekeeping;
    store::job_finisher finisher;
    store::job_canceller canceller;
    store::dead_letters dead;
    store::queue_inspection inspection;
    store::job_results results;
    store::job_ends ends;
    /// For what happens whole or not at all inside a user's transaction; a unit needs none.
    sqlite::savepoint savepoint;
};

/// The queue's tables of the file, as all its queues share them. Used on the strand only.
///
/// As a source it is what waits for the ends of jobs are on: each has a line of its own.
class queue_store final : public runtime::source {
public:
    /// For writing; creates or upgrades the tables first where that is wanted and necessary.
    queue_statements& ready(runtime::batch& batch, bool create_schema);

    /// For looking, outside of any batch. Nothing when there are no tables, or only older ones, and
    /// they are ours to make.
    queue_statements* find(sqlite::connection connection, bool create_schema);

    /// What has been made ready, or found, before; nothing while the tables may not be there.
    queue_statements* opened() noexcept { return is_committed_ ? statements_.get() : nullptr; }

    /// The job has come to its end, or its result is there: who waits for that has to look.
    static void touch_end(runtime::batch& batch, std::int64_t job_id);

    /// What waiters for the end of a job accept.
    [[nodiscard]] static std::string end_of(std::int64_t job_id);

    std::optional<clock::wall_time> next_due(sqlite::connection connection,
                                             clock::wall_time since) override;
    void disconnect() noexcept override;

private:
    [[nodiscard]] bool is_usable(bool create_schema) const noexcept;
    void note_commit(sqlite::connection connection) noexcept;
    queue_statements& open(sqlite::connection connection, store::queue_shape shape);

    std::unique_ptr<queue_statements> statements_;
    store::queue_shape shape_ = store::queue_shape::missing;
    /// False while the tables could still vanish with the transaction that makes them.
    bool is_committed_ = false;
};

} // namespace skein::api
