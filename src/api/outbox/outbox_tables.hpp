#pragma once

#include "sqlite/connection.hpp"
#include "sqlite/error.hpp"
#include "store/log/notification_schema.hpp"
#include "store/log/notifications.hpp"
#include "store/log/stream_schema.hpp"
#include "store/log/streams.hpp"
#include "store/queue/keyed_enqueuer.hpp"
#include "store/queue/queue_schema.hpp"
#include "store/transport/transport.hpp"
#include "store/transport/transport_schema.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace skein::api {

/// The tables of one feature on a connection of the user's, and the prepared statements on them.
/// Nobody tells when his transaction ends: tables that were there may have vanished with it.
///
/// `Family` says which, see below.
template <class Family>
class outbox_tables {
public:
    using statements = typename Family::statements;

    explicit outbox_tables(Family family = {}) : family_(std::move(family)) {}

    /// What was made ready before; nothing at the first use.
    [[nodiscard]] statements* opened() noexcept { return statements_.get(); }

    /// Whether a refusal is due to tables that are not as they were when they were made ready.
    [[nodiscard]] bool explains(const sqlite::error& refusal, sqlite::connection connection) const
    {
        return refusal.primary_code() == SQLITE_ERROR && family_.inspect(connection) != shape_;
    }

    /// Looks at the tables, and creates or upgrades them where that is wanted and necessary.
    statements& ready(sqlite::connection connection, bool create_schema, std::int64_t now)
    {
        shape_ = family_.inspect(connection);
        if (create_schema && shape_ != shape::complete) {
            family_.create(connection, now);
            shape_ = shape::complete;
        }
        statements_ = family_.open(connection, shape_);
        return *statements_;
    }

private:
    using shape = typename Family::shape;

    Family family_;
    std::unique_ptr<statements> statements_;
    shape shape_ = shape::missing;
};

/// Of the keys the tables are made when they are used, each time anew if need be: they may vanish
/// alone.
struct outbox_jobs {
    explicit outbox_jobs(sqlite::connection where) : connection(where), plain(where), keyed(where)
    {
    }

    sqlite::connection connection;
    store::job_enqueuer plain;
    store::keyed_enqueuer keyed;
};

struct outbox_queues {
    using statements = outbox_jobs;
    using shape = store::queue_shape;

    [[nodiscard]] static shape inspect(sqlite::connection connection)
    {
        return store::inspect_queue(connection);
    }
    static void create(sqlite::connection connection, std::int64_t now)
    {
        store::create_queue(connection, now);
    }
    [[nodiscard]] static std::unique_ptr<statements> open(sqlite::connection connection,
                                                          shape /*present*/)
    {
        return std::make_unique<statements>(connection);
    }
};

struct outbox_transport {
    using statements = store::transport;
    using shape = store::transport_shape;

    store::transport_names names;

    [[nodiscard]] shape inspect(sqlite::connection connection) const
    {
        return store::inspect_transport(connection, names);
    }
    void create(sqlite::connection connection, std::int64_t /*now*/) const
    {
        store::create_transport(connection, names);
    }
    [[nodiscard]] std::unique_ptr<statements> open(sqlite::connection connection,
                                                   shape present) const
    {
        return std::make_unique<statements>(connection, names, present);
    }
};

/// What a `store::table_family` describes.
template <class Statements, store::table_family (*family)()>
struct outbox_log {
    using statements = Statements;
    using shape = store::family_shape;

    [[nodiscard]] static shape inspect(sqlite::connection connection)
    {
        return store::inspect_family(connection, family());
    }
    static void create(sqlite::connection connection, std::int64_t /*now*/)
    {
        store::create_family(connection, family());
    }
    [[nodiscard]] static std::unique_ptr<statements> open(sqlite::connection connection,
                                                          shape present)
    {
        return std::make_unique<statements>(connection, present);
    }
};

using outbox_notifications = outbox_log<store::notifications, store::notification_tables>;
using outbox_streams = outbox_log<store::streams, store::stream_tables>;

} // namespace skein::api
