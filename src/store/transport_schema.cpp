#include "store/transport_schema.hpp"

#include "sqlite/statement.hpp"
#include "store/additions.hpp"
#include "store/error.hpp"

#include <algorithm>

namespace skein::store {

namespace {

// Raised when the additions (not the format's own tables) change their shape.
constexpr int additions_version = 1;

bool is_identifier(std::string_view text)
{
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !text.empty() && text.size() <= 30 && is_letter(text.front()) &&
           std::all_of(text.begin(), text.end(),
                       [&](char c) { return is_letter(c) || is_digit(c); });
}

/// SQLite keeps such names for itself.
bool is_reserved(std::string_view text)
{
    return sqlite3_strnicmp(std::string(text).c_str(), "sqlite_", 7) == 0;
}

bool has_object(sqlite::connection connection, std::string_view name)
{
    sqlite::statement find(connection,
                           "SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE");
    return find.start(name).step();
}

bool has_column(sqlite::connection connection, std::string_view table, std::string_view column)
{
    sqlite::statement find(connection, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2");
    return find.start(table, column).step();
}

bool has_indexes(sqlite::connection connection, const transport_names& names)
{
    return has_object(connection, names.by_group) &&
           has_object(connection, names.by_last_claimed) &&
           has_object(connection, names.by_routing_key);
}

bool has_additions(sqlite::connection connection, const transport_names& names)
{
    return has_object(connection, names.free_by_priority) &&
           has_object(connection, names.free_by_key) &&
           has_object(connection, names.free_by_key_and_priority) &&
           has_object(connection, names.blocked_by_time) &&
           has_object(connection, names.lock_changed) && has_object(connection, names.lock_deleted);
}

void create_messages(sqlite::connection connection, const transport_names& names)
{
    connection.execute("CREATE TABLE IF NOT EXISTS " + names.messages +
                       " (seq INTEGER PRIMARY KEY AUTOINCREMENT, group_id TEXT NOT NULL,"
                       " event TEXT NOT NULL, locked_by TEXT, lock_expiry REAL)");
    connection.execute("CREATE INDEX IF NOT EXISTS " + names.by_group + " ON " + names.messages +
                       " (group_id, seq)");
}

void create_groups(sqlite::connection connection, const transport_names& names)
{
    const bool are_new = !has_object(connection, names.groups);
    connection.execute("CREATE TABLE IF NOT EXISTS " + names.groups +
                       " (group_id TEXT PRIMARY KEY, last_claimed_at REAL NOT NULL DEFAULT 0.0,"
                       " priority INT NOT NULL DEFAULT 0, routing_key TEXT)");
    if (!has_column(connection, names.groups, "routing_key")) {
        connection.execute("ALTER TABLE " + names.groups + " ADD COLUMN routing_key TEXT");
    }
    connection.execute("CREATE INDEX IF NOT EXISTS " + names.by_last_claimed + " ON " +
                       names.groups + " (last_claimed_at)");
    connection.execute("CREATE INDEX IF NOT EXISTS " + names.by_routing_key + " ON " +
                       names.groups + " (routing_key, last_claimed_at)");
    if (are_new) {
        // The oldest shape had messages only.
        connection.execute("INSERT INTO " + names.groups + " (group_id) SELECT group_id FROM " +
                           names.messages + " GROUP BY group_id ORDER BY min(seq)");
    }
}

/// `blocked_until` is the end of the lease or park of a group's head; NULL when the group is free.
void create_blocked_until(sqlite::connection connection, const transport_names& names)
{
    if (!has_column(connection, names.groups, "blocked_until")) {
        connection.execute("ALTER TABLE " + names.groups + " ADD COLUMN blocked_until REAL");
    }
    // Also when the column is there: without the triggers, others have written past it.
    connection.execute("UPDATE " + names.groups + " SET blocked_until = (SELECT lock_expiry FROM " +
                       names.messages + " m WHERE m.group_id = " + names.groups +
                       ".group_id ORDER BY seq LIMIT 1)");
}

/// Free groups in the order of fairness, one index for each kind of probe. Nothing may stand
/// between `last_claimed_at` and the rowid: groups that were never claimed all carry the stamp 0.
/// Other programs may write any priority: above 4 counts as 4, below 0 is never asked for.
void create_group_indexes(sqlite::connection connection, const transport_names& names)
{
    const std::string free = " WHERE blocked_until IS NULL AND priority >= 0";
    connection.execute("CREATE INDEX IF NOT EXISTS " + names.free_by_priority + " ON " +
                       names.groups + " (min(priority, 4), last_claimed_at)" + free);
    connection.execute("CREATE INDEX IF NOT EXISTS " + names.free_by_key + " ON " + names.groups +
                       " (routing_key, last_claimed_at)" + free);
    connection.execute("CREATE INDEX IF NOT EXISTS " + names.free_by_key_and_priority + " ON " +
                       names.groups + " (routing_key, min(priority, 4), last_claimed_at)" + free);
    connection.execute("CREATE INDEX IF NOT EXISTS " + names.blocked_by_time + " ON " +
                       names.groups + " (blocked_until) WHERE blocked_until IS NOT NULL");
}

/// The triggers keep `blocked_until` right for every writer, those included that do not know it.
void create_triggers(sqlite::connection connection, const transport_names& names)
{
    connection.execute("CREATE TRIGGER IF NOT EXISTS " + names.lock_changed +
                       " AFTER UPDATE OF locked_by, lock_expiry ON " + names.messages +
                       " BEGIN UPDATE " + names.groups +
                       " SET blocked_until = NEW.lock_expiry WHERE group_id = NEW.group_id"
                       " AND blocked_until IS NOT NEW.lock_expiry; END");
    connection.execute("CREATE TRIGGER IF NOT EXISTS " + names.lock_deleted + " AFTER DELETE ON " +
                       names.messages + " WHEN OLD.locked_by IS NOT NULL BEGIN UPDATE " +
                       names.groups + " SET blocked_until = (SELECT lock_expiry FROM " +
                       names.messages +
                       " WHERE group_id = OLD.group_id ORDER BY seq LIMIT 1)"
                       " WHERE group_id = OLD.group_id; END");
}

} // namespace

transport_names::transport_names(std::string_view text)
{
    if (!is_identifier(text) || is_reserved(text)) {
        throw invalid_argument(
            "prefix: \"" + std::string(text) +
            "\" is not accepted; a letter or underscore and then up to 29 "
            "letters, digits and underscores are, unless it starts with sqlite_");
    }
    const std::string prefix(text);
    for (const char c : prefix) {
        key += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    messages = prefix + "_transport_messages";
    groups = prefix + "_transport_groups";
    by_last_claimed = groups + "_by_last_claimed";
    by_group = messages + "_by_group";
    by_routing_key = groups + "_by_routing_key";
    const std::string ours = "_skein_" + prefix + "_";
    free_by_priority = ours + "free_by_priority";
    free_by_key = ours + "free_by_key";
    free_by_key_and_priority = ours + "free_by_key_and_priority";
    blocked_by_time = ours + "blocked_by_time";
    lock_changed = ours + "lock_changed";
    lock_deleted = ours + "lock_deleted";
}

transport_tables find_transport(sqlite::connection connection, const transport_names& names)
{
    require_known_addition(connection, "transport " + names.key, additions_version);
    return {has_column(connection, names.messages, "lock_expiry"),
            has_column(connection, names.groups, "last_claimed_at"),
            has_column(connection, names.groups, "routing_key"),
            has_column(connection, names.groups, "blocked_until")};
}

transport_shape inspect_transport(sqlite::connection connection, const transport_names& names)
{
    const transport_tables tables = find_transport(connection, names);
    if (!tables.has_messages || !tables.has_routing_keys) {
        return transport_shape::missing;
    }
    return tables.has_blocked_until && has_indexes(connection, names) &&
                   has_additions(connection, names)
               ? transport_shape::complete
               : transport_shape::plain;
}

void create_transport(sqlite::connection connection, const transport_names& names)
{
    if (inspect_transport(connection, names) == transport_shape::complete) {
        return;
    }
    create_messages(connection, names);
    create_groups(connection, names);
    create_blocked_until(connection, names);
    create_group_indexes(connection, names);
    create_triggers(connection, names);
    record_addition(connection, "transport " + names.key, additions_version);
}

} // namespace skein::store
