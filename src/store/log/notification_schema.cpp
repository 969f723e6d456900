#include "store/log/notification_schema.hpp"

#include "store/log/removal_record.hpp"

namespace skein::store {

namespace {

constexpr removal_record removed_notifications{
    .log = "_honker_notifications",
    .name = "channel",
    .number = "id",
    .table = "_skein_removed_notifications",
    .deleted_trigger = "_skein_notification_deleted",
    .moved_trigger = "_skein_notification_moved",
};

} // namespace

table_family notification_tables()
{
    table_family family{
        .addition = "notifications",
        .version = 1,
        .format = {"_honker_notifications", "_honker_notifications_recent"},
        .additions = {"_skein_notifications_by_time", removed_notifications.table,
                      removed_notifications.deleted_trigger, removed_notifications.moved_trigger},
        .statements = {"CREATE TABLE IF NOT EXISTS _honker_notifications"
                       " (id INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT NOT NULL,"
                       " payload TEXT NOT NULL,"
                       " created_at INTEGER NOT NULL DEFAULT (unixepoch()))",
                       "CREATE INDEX IF NOT EXISTS _honker_notifications_recent"
                       " ON _honker_notifications (channel, id)",
                       "CREATE INDEX IF NOT EXISTS _skein_notifications_by_time"
                       " ON _honker_notifications (created_at)"}};
    for (std::string& each : removal_statements(removed_notifications)) {
        family.statements.push_back(std::move(each));
    }
    return family;
}

} // namespace skein::store
