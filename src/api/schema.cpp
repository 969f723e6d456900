#include <skein/schema.hpp>

#include "api/misuse.hpp"
#include "store/lock/lock_schema.hpp"
#include "store/log/notification_schema.hpp"
#include "store/log/stream_schema.hpp"
#include "store/queue/held_jobs_schema.hpp"
#include "store/queue/queue_statements.hpp"
#include "store/queue/stop_requests_schema.hpp"
#include "store/queue/unique_jobs_schema.hpp"
#include "store/rate_limit/rate_limit_schema.hpp"
#include "store/schedule/schedule_schema.hpp"
#include "store/transport/transport_statements.hpp"

namespace skein::schema {

namespace {

store::transport_names names_of(std::string_view prefix)
{
    return api::checked([&] { return store::transport_names(prefix); });
}

/// What there is once the tables have the prefix.
store::transport_tables tables_of(transport_version version)
{
    store::transport_tables tables;
    tables.has_messages = true;
    tables.has_groups = version != transport_version::unprefixed_messages &&
                        version != transport_version::messages_only;
    tables.has_routing_keys = version == transport_version::without_additions;
    return tables;
}

store::queue_tables tables_of(queue_version version)
{
    store::queue_tables tables;
    tables.has_live = true;
    tables.has_claimed_at = version != queue_version::without_claimed_at;
    tables.has_older_indexes = version != queue_version::without_additions;
    tables.has_results = true;
    return tables;
}

/// The owner of the schema runs them some time: it is SQLite that knows the time then.
std::vector<std::string> completing(const store::queue_tables& present)
{
    return store::completing_queue_statements(present, "unixepoch()");
}

bool is_unprefixed(transport_version version)
{
    return version == transport_version::unprefixed_messages ||
           version == transport_version::unprefixed;
}

} // namespace

std::vector<std::string> transport(std::string_view prefix)
{
    return store::completing_statements(names_of(prefix), {});
}

std::vector<std::string> transport_upgrade(transport_version from, std::string_view prefix)
{
    if (from < transport_version::unprefixed_messages ||
        from > transport_version::without_additions) {
        throw error(errc::invalid_argument, "from: not a value of transport_version");
    }
    const store::transport_names names = names_of(prefix);
    const store::transport_tables present = tables_of(from);
    std::vector<std::string> statements;
    if (is_unprefixed(from)) {
        statements = store::renaming_statements(names, present.has_groups);
    }
    for (std::string& each : store::completing_statements(names, present)) {
        statements.push_back(std::move(each));
    }
    return statements;
}

std::vector<std::string> queue()
{
    return completing({});
}

std::vector<std::string> queue_upgrade(queue_version from)
{
    if (from < queue_version::without_claimed_at || from > queue_version::without_additions) {
        throw error(errc::invalid_argument, "from: not a value of queue_version");
    }
    return completing(tables_of(from));
}

std::vector<std::string> schedules()
{
    return store::completing_schedule_statements({});
}

std::vector<std::string> schedules_upgrade(schedule_version from)
{
    if (from < schedule_version::without_enabled || from > schedule_version::without_additions) {
        throw error(errc::invalid_argument, "from: not a value of schedule_version");
    }
    const bool has_enabled = from != schedule_version::without_enabled;
    const bool has_max_attempts = from == schedule_version::without_additions;
    return store::completing_schedule_statements(
        {.has_table = true, .has_enabled = has_enabled, .has_max_attempts = has_max_attempts});
}

std::vector<std::string> notifications()
{
    return store::completing_statements(store::notification_tables());
}

std::vector<std::string> streams()
{
    return store::completing_statements(store::stream_tables());
}

std::vector<std::string> locks()
{
    return store::completing_statements(store::lock_tables());
}

std::vector<std::string> rate_limits()
{
    return store::completing_statements(store::rate_limit_tables());
}

std::vector<std::string> unique_jobs()
{
    return store::completing_statements(store::unique_job_tables());
}

std::vector<std::string> held_jobs()
{
    return store::completing_statements(store::held_job_tables());
}

std::vector<std::string> stop_requests()
{
    return store::completing_statements(store::stop_request_tables());
}

} // namespace skein::schema
