#include "store/transport/transport_statements.hpp"

#include "store/additions.hpp"

namespace skein::store {

namespace {

using statements = std::vector<std::string>;

void add_format(statements& all, const transport_names& names, const transport_tables& present)
{
    all.push_back("CREATE TABLE IF NOT EXISTS " + names.messages +
                  " (seq INTEGER PRIMARY KEY AUTOINCREMENT, group_id TEXT NOT NULL,"
                  " event TEXT NOT NULL, locked_by TEXT, lock_expiry REAL)");
    all.push_back("CREATE INDEX IF NOT EXISTS " + names.by_group + " ON " + names.messages +
                  " (group_id, seq)");
    if (!present.has_groups) {
        all.push_back("CREATE TABLE IF NOT EXISTS " + names.groups +
                      " (group_id TEXT PRIMARY KEY, last_claimed_at REAL NOT NULL DEFAULT 0.0,"
                      " priority INT NOT NULL DEFAULT 0, routing_key TEXT)");
    } else if (!present.has_routing_keys) {
        all.push_back("ALTER TABLE " + names.groups + " ADD COLUMN routing_key TEXT");
    }
    all.push_back("CREATE INDEX IF NOT EXISTS " + names.by_last_claimed + " ON " + names.groups +
                  " (last_claimed_at)");
    all.push_back("CREATE INDEX IF NOT EXISTS " + names.by_routing_key + " ON " + names.groups +
                  " (routing_key, last_claimed_at)");
    if (present.has_messages && !present.has_groups) {
        all.push_back("INSERT INTO " + names.groups + " (group_id) SELECT group_id FROM " +
                      names.messages + " GROUP BY group_id ORDER BY min(seq)");
    }
}

/// `blocked_until` is the end of the lease or park of a group's head; NULL when the group is free.
void add_blocked_until(statements& all, const transport_names& names,
                       const transport_tables& present)
{
    if (!present.has_blocked_until) {
        all.push_back("ALTER TABLE " + names.groups + " ADD COLUMN blocked_until REAL");
    }
    if (present.has_messages) {
        // Also when the column is there: without the triggers, others have written past it.
        all.push_back("UPDATE " + names.groups + " SET blocked_until = (SELECT lock_expiry FROM " +
                      names.messages + " m WHERE m.group_id = " + names.groups +
                      ".group_id ORDER BY seq LIMIT 1)");
    }
}

/// Free groups in the order of fairness, one index for each kind of probe. Nothing may stand
/// between `last_claimed_at` and the rowid: groups that were never claimed all carry the stamp 0.
/// Other programs may write any priority: above 4 counts as 4, below 0 is never asked for. Most
/// groups have no key: one index less is kept for those.
void add_group_indexes(statements& all, const transport_names& names)
{
    const std::string free = " WHERE blocked_until IS NULL AND priority >= 0";
    all.push_back("CREATE INDEX IF NOT EXISTS " + names.free_by_priority + " ON " + names.groups +
                  " (min(priority, 4), last_claimed_at)" + free);
    all.push_back("CREATE INDEX IF NOT EXISTS " + names.free_by_key + " ON " + names.groups +
                  " (routing_key, last_claimed_at)" + free + " AND routing_key IS NOT NULL");
    all.push_back("CREATE INDEX IF NOT EXISTS " + names.free_by_key_and_priority + " ON " +
                  names.groups + " (routing_key, min(priority, 4), last_claimed_at)" + free);
    all.push_back("CREATE INDEX IF NOT EXISTS " + names.blocked_by_time + " ON " + names.groups +
                  " (blocked_until) WHERE blocked_until IS NOT NULL");
}

/// The triggers keep `blocked_until` right for every writer, those included that do not know it.
void add_triggers(statements& all, const transport_names& names)
{
    all.push_back("CREATE TRIGGER IF NOT EXISTS " + names.lock_changed +
                  " AFTER UPDATE OF locked_by, lock_expiry ON " + names.messages +
                  " BEGIN UPDATE " + names.groups +
                  " SET blocked_until = NEW.lock_expiry WHERE group_id = NEW.group_id"
                  " AND blocked_until IS NOT NEW.lock_expiry; END");
    all.push_back("CREATE TRIGGER IF NOT EXISTS " + names.lock_deleted + " AFTER DELETE ON " +
                  names.messages + " WHEN OLD.locked_by IS NOT NULL BEGIN UPDATE " + names.groups +
                  " SET blocked_until = (SELECT lock_expiry FROM " + names.messages +
                  " WHERE group_id = OLD.group_id ORDER BY seq LIMIT 1)"
                  " WHERE group_id = OLD.group_id; END");
}

} // namespace

statements completing_statements(const transport_names& names, const transport_tables& present)
{
    statements all;
    add_format(all, names, present);
    add_blocked_until(all, names, present);
    add_group_indexes(all, names);
    add_triggers(all, names);
    const statements record = addition_record(names.addition(), transport_additions_version);
    all.insert(all.end(), record.begin(), record.end());
    return all;
}

statements renaming_statements(const transport_names& names, bool has_groups)
{
    statements all{"DROP INDEX IF EXISTS messages_by_group",
                   "ALTER TABLE messages RENAME TO " + names.messages};
    if (has_groups) {
        all.emplace_back("DROP INDEX IF EXISTS groups_by_last_claimed");
        all.push_back("ALTER TABLE groups RENAME TO " + names.groups);
    }
    return all;
}

} // namespace skein::store
