#include "store/log/stream_schema.hpp"

#include "store/log/removal_record.hpp"

namespace skein::store {

namespace {

constexpr removal_record removed_events{
    .log = "_honker_stream",
    .name = "topic",
    .number = "offset",
    .table = "_skein_removed_events",
    .deleted_trigger = "_skein_event_deleted",
    .moved_trigger = "_skein_event_moved",
};

} // namespace

table_family stream_tables()
{
    table_family family{
        .addition = "streams",
        .version = 1,
        .format = {"_honker_stream", "_honker_stream_topic", "_honker_stream_consumers"},
        .additions = {"_skein_consumers_by_topic", removed_events.table,
                      removed_events.deleted_trigger, removed_events.moved_trigger},
        .statements = {"CREATE TABLE IF NOT EXISTS _honker_stream"
                       " (offset INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, key TEXT,"
                       " payload TEXT NOT NULL,"
                       " created_at INTEGER NOT NULL DEFAULT (unixepoch()))",
                       "CREATE INDEX IF NOT EXISTS _honker_stream_topic ON _honker_stream"
                       " (topic, offset)",
                       "CREATE TABLE IF NOT EXISTS _honker_stream_consumers"
                       " (name TEXT NOT NULL, topic TEXT NOT NULL,"
                       " offset INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, topic))",
                       "CREATE INDEX IF NOT EXISTS _skein_consumers_by_topic"
                       " ON _honker_stream_consumers (topic, offset, name)"}};
    for (std::string& each : removal_statements(removed_events)) {
        family.statements.push_back(std::move(each));
    }
    return family;
}

} // namespace skein::store
