#include "store/older_program.hpp"

#include <cstdio>
#include <memory>
#include <vector>

namespace skein::store {

namespace {

// Enough digits that a double comes back as it was.
std::string exact(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string sql_text(const std::string& text)
{
    return "'" + text + "'";
}

void create_tables(const support::plain_connection& file, format_version version,
                   const std::string& messages, const std::string& groups)
{
    file.sql("PRAGMA journal_mode = wal; CREATE TABLE " + messages +
             " (seq INTEGER PRIMARY KEY AUTOINCREMENT, group_id TEXT NOT NULL,"
             " event TEXT NOT NULL, locked_by TEXT, lock_expiry REAL)");
    if (version == format_version::messages_only) {
        return;
    }
    file.sql("CREATE TABLE " + groups +
             " (group_id TEXT PRIMARY KEY, last_claimed_at REAL NOT NULL DEFAULT 0.0,"
             " priority INT NOT NULL DEFAULT 0" +
             (version == format_version::keys ? ", routing_key TEXT)" : ")"));
    if (version == format_version::no_indexes) {
        return;
    }
    file.sql("CREATE INDEX " + groups + "_by_last_claimed ON " + groups + " (last_claimed_at);" +
             "CREATE INDEX " + messages + "_by_group ON " + messages + " (group_id, seq)");
    if (version == format_version::keys) {
        file.sql("CREATE INDEX " + groups + "_by_routing_key ON " + groups +
                 " (routing_key, last_claimed_at)");
    }
}

} // namespace

void create_format(const support::plain_connection& file, format_version version,
                   const std::string& prefix)
{
    create_tables(file, version, prefix + "_transport_messages", prefix + "_transport_groups");
}

void create_unprefixed(const support::plain_connection& file, format_version version)
{
    create_tables(file, version, "messages", "groups");
}

older_program::older_program(const std::filesystem::path& path)
    : sql_([file = std::make_shared<support::plain_connection>(path)](
               const std::string& statements) { return file->sql(statements); })
{
}

older_program::older_program(support::other_process& process)
    : sql_([&process](const std::string& statements) { return process.sql(statements); })
{
    sql_("PRAGMA busy_timeout = 60000");
}

void older_program::publish(const std::string& group, const std::string& event, int priority)
{
    publish_message(group, event);
    publish_group(group, priority);
}

void older_program::publish_with_key(const std::string& group, const std::string& event,
                                     const std::string& key)
{
    publish_message(group, event);
    sql_("INSERT OR IGNORE INTO harel_transport_groups (group_id, priority, routing_key)"
         " VALUES (" +
         sql_text(group) + ", 0, " + sql_text(key) + ")");
}

void older_program::publish_message(const std::string& group, const std::string& event)
{
    sql_("INSERT INTO harel_transport_messages (group_id, event) VALUES (" + sql_text(group) +
         ", " + sql_text(event) + ")");
}

void older_program::publish_group(const std::string& group, int priority)
{
    sql_("INSERT OR IGNORE INTO harel_transport_groups (group_id, priority) VALUES (" +
         sql_text(group) + ", " + std::to_string(priority) + ")");
}

std::optional<older_program::claimed> older_program::claim(const std::string& worker, double now,
                                                           double visibility, int min_priority)
{
    sql_("BEGIN IMMEDIATE");
    const std::vector<std::string> group =
        sql_("SELECT group_id FROM harel_transport_groups g WHERE priority >= " +
             std::to_string(min_priority) +
             " AND EXISTS (SELECT 1 FROM harel_transport_messages WHERE group_id = g.group_id)"
             " AND NOT EXISTS (SELECT 1 FROM harel_transport_messages WHERE group_id = g.group_id"
             " AND locked_by IS NOT NULL AND lock_expiry >= " +
             exact(now) + ") ORDER BY last_claimed_at, rowid LIMIT 1");
    if (group.empty()) {
        sql_("COMMIT");
        return std::nullopt;
    }
    claimed lease;
    lease.group = group.front();
    const std::string head =
        " FROM harel_transport_messages WHERE group_id = " + sql_text(lease.group) +
        " ORDER BY seq LIMIT 1";
    lease.seq = value("SELECT seq" + head);
    lease.event = value("SELECT event" + head);
    sql_("UPDATE harel_transport_groups SET last_claimed_at = " + exact(now) +
         " WHERE group_id = " + sql_text(lease.group) +
         "; UPDATE harel_transport_messages SET locked_by = " + sql_text(worker) +
         ", lock_expiry = " + exact(now + visibility) + " WHERE seq = " + lease.seq + "; COMMIT");
    return lease;
}

void older_program::ack(const claimed& lease)
{
    sql_("BEGIN IMMEDIATE; DELETE FROM harel_transport_messages WHERE seq = " + lease.seq +
         "; DELETE FROM harel_transport_groups WHERE group_id = " + sql_text(lease.group) +
         " AND NOT EXISTS (SELECT 1 FROM harel_transport_messages WHERE group_id = " +
         sql_text(lease.group) + "); COMMIT");
}

void older_program::nack(const claimed& lease)
{
    sql_("UPDATE harel_transport_messages SET locked_by = NULL, lock_expiry = NULL"
         " WHERE seq = " +
         lease.seq);
}

void older_program::park(const claimed& lease, double end)
{
    sql_("UPDATE harel_transport_messages SET locked_by = '__parked__', lock_expiry = " +
         exact(end) + " WHERE seq = " + lease.seq);
}

} // namespace skein::store
