#pragma once

#include "api/family_store.hpp"
#include "api/queue/queue_store.hpp"
#include "store/queue/held_jobs_schema.hpp"
#include "store/queue/queue_pauses.hpp"
#include "store/queue/stop_requests.hpp"
#include "store/queue/stop_requests_schema.hpp"
#include "store/queue/unique_jobs_schema.hpp"

namespace skein::api {

struct held_statements {
    held_statements(sqlite::connection connection, store::family_shape /*shape*/)
        : pauses(connection)
    {
    }

    store::queue_pauses pauses;
};

/// It is with the queue's other statements that keys are taken.
struct unique_statements {
    unique_statements(sqlite::connection /*connection*/, store::family_shape /*shape*/) {}
};

struct stop_statements {
    stop_statements(sqlite::connection connection, store::family_shape /*shape*/)
        : requests(connection)
    {
    }

    store::stop_requests requests;
};

/// The tables of what only some queues use, which are made when that is first used: before, it is
/// to cost nothing. They stand beside the queue's tables, which must be there.
class queue_features final : public runtime::source {
public:
    table_store<family_tables<held_statements, store::held_job_tables>> held;
    table_store<family_tables<unique_statements, store::unique_job_tables>> unique;
    table_store<family_tables<stop_statements, store::stop_request_tables>> stops;

    /// What was asked of workers, if anybody has ever asked for anything. Each heartbeat asks, so
    /// that it looks no closer than it must.
    [[nodiscard]] store::stop_requests* stop_requests(runtime::batch& batch,
                                                      queue_statements& there)
    {
        const bool is_there = stops.opened() != nullptr || there.find_stop_requests.start().step();
        return is_there ? &stops.ready(batch, false).requests : nullptr;
    }

    std::optional<clock::wall_time> next_due(sqlite::connection /*connection*/,
                                             clock::wall_time /*since*/) override
    {
        return std::nullopt;
    }

    void disconnect() noexcept override
    {
        held.disconnect();
        unique.disconnect();
        stops.disconnect();
    }
};

} // namespace skein::api
