#pragma once

#include "api/table_store.hpp"
#include "sqlite/savepoint.hpp"
#include "store/queue/claim_forecast.hpp"
#include "store/queue/dead_letters.hpp"
#include "store/queue/held_jobs.hpp"
#include "store/queue/job_canceller.hpp"
#include "store/queue/job_changer.hpp"
#include "store/queue/job_claimer.hpp"
#include "store/queue/job_ends.hpp"
#include "store/queue/job_enqueuer.hpp"
#include "store/queue/job_finisher.hpp"
#include "store/queue/job_results.hpp"
#include "store/queue/keyed_enqueuer.hpp"
#include "store/queue/queue_housekeeping.hpp"
#include "store/queue/queue_inspection.hpp"
#include "store/queue/queue_schema.hpp"

#include <cstdint>
#include <string>

namespace skein::api {

/// What is done with the queue's tables. Each statement is prepared when it is first used.
struct queue_statements {
    queue_statements(sqlite::connection connection, store::queue_shape shape);

    store::job_enqueuer enqueuer;
    store::keyed_enqueuer keyed;
    store::job_claimer claimer;
    store::claim_forecast forecast;
    store::queue_housekeeping housekeeping;
    store::job_finisher finisher;
    store::job_canceller canceller;
    store::job_changer changer;
    store::held_jobs held;
    store::dead_letters dead;
    store::queue_inspection inspection;
    store::job_results results;
    store::job_ends ends;
    sqlite::statement find_stop_requests; ///< whether there is a table of them
    /// For what happens whole or not at all inside a user's transaction; a unit needs none.
    sqlite::savepoint savepoint;
};

/// Which tables all queues of the file share.
struct queue_tables {
    using statements = queue_statements;
    using shape = store::queue_shape;

    [[nodiscard]] static shape inspect(sqlite::connection connection)
    {
        return store::inspect_queue(connection);
    }
    static void create(sqlite::connection connection, std::int64_t now)
    {
        store::create_queue(connection, now);
    }
};

/// As a source it is what waits for the ends of jobs are on: each has a line of its own.
class queue_store final : public table_store<queue_tables> {
public:
    /// The job has come to its end, or its result is there: who waits for that has to look.
    static void touch_end(runtime::batch& batch, std::int64_t job_id);

    /// What waiters for the end of a job accept.
    [[nodiscard]] static std::string end_of(std::int64_t job_id);
};

} // namespace skein::api
