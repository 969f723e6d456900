#pragma once

#include "api/queue/queue_state.hpp"
#include "api/table_store.hpp"
#include "sqlite/savepoint.hpp"
#include "store/schedule/schedule_schema.hpp"
#include "store/schedule/schedule_tick.hpp"
#include "store/schedule/schedules.hpp"

#include <skein/scheduler.hpp>

#include <cstdint>
#include <memory>

namespace skein::api {

/// What is done with the tables of schedules. Each statement is prepared when it is first used.
struct schedule_statements {
    schedule_statements(sqlite::connection connection, store::family_shape shape)
        : rows(connection, shape), tick(connection, shape), savepoint(connection, "skein_schedule")
    {
    }

    store::schedules rows;
    store::schedule_tick tick;
    /// For what happens whole or not at all inside a user's transaction; a unit needs none.
    sqlite::savepoint savepoint;
};

/// Which tables all schedules of the file share.
struct schedule_tables {
    using statements = schedule_statements;
    using shape = store::family_shape;

    [[nodiscard]] static shape inspect(sqlite::connection connection)
    {
        return store::inspect_schedules(connection);
    }
    static void create(sqlite::connection connection, std::int64_t /*now*/)
    {
        store::create_schedules(connection);
    }
};

using schedule_store = table_store<schedule_tables>;

/// What a `scheduler` handle refers to.
struct scheduler_state {
    std::shared_ptr<runtime::engine> engine;
    std::shared_ptr<schedule_store> store;
    std::shared_ptr<queue_store> queues;
    bool create_schema = true;

    /// The tables, for writing.
    [[nodiscard]] schedule_statements& ready(runtime::batch& batch) const
    {
        return store->ready(batch, create_schema);
    }
};

[[nodiscard]] std::shared_ptr<const scheduler_state>
make_scheduler_state(std::shared_ptr<runtime::engine> engine, const scheduler_options& options);

} // namespace skein::api
