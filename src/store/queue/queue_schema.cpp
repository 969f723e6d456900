#include "store/queue/queue_schema.hpp"

#include "sqlite/statement.hpp"
#include "store/additions.hpp"
#include "store/queue/queue_statements.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace skein::store {

namespace {

bool has_object(sqlite::connection connection, std::string_view name)
{
    sqlite::statement find(connection, "SELECT 1 FROM sqlite_schema WHERE name = ?1");
    return find.start(name).step();
}

bool has_objects(sqlite::connection connection, std::initializer_list<std::string_view> names)
{
    return std::ranges::all_of(names,
                               [&](std::string_view each) { return has_object(connection, each); });
}

bool has_format(sqlite::connection connection, const queue_tables& tables)
{
    return tables.has_live && tables.has_claimed_at && !tables.has_older_indexes &&
           has_objects(connection, {"_honker_live_ready", "_honker_live_scheduled",
                                    "_honker_live_processing_deadline", "_honker_live_expiry",
                                    "_honker_dead", "_honker_results"});
}

} // namespace

queue_tables find_queue(sqlite::connection connection)
{
    require_known_addition(connection, queue_addition, queue_additions_version);
    sqlite::statement find_claimed_at(
        connection, "SELECT 1 FROM pragma_table_info('_honker_live') WHERE name = 'claimed_at'");
    return {has_object(connection, "_honker_live"), find_claimed_at.start().step(),
            has_object(connection, "_honker_live_claim") ||
                has_object(connection, "_honker_live_pending_deadline"),
            has_object(connection, "_honker_results")};
}

queue_shape inspect_queue(sqlite::connection connection)
{
    if (!has_format(connection, find_queue(connection))) {
        return queue_shape::missing;
    }
    return has_objects(connection, {"_skein_dead_by_time", "_skein_results_by_time",
                                    "_skein_results_by_expiry", "_skein_meta"})
               ? queue_shape::complete
               : queue_shape::plain;
}

void create_queue(sqlite::connection connection, std::int64_t now)
{
    if (inspect_queue(connection) == queue_shape::complete) {
        return;
    }
    for (const std::string& each :
         completing_queue_statements(find_queue(connection), std::to_string(now))) {
        connection.execute(each);
    }
}

} // namespace skein::store
