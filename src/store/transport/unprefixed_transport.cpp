#include "store/transport/unprefixed_transport.hpp"

#include "sqlite/statement.hpp"
#include "store/additions.hpp"
#include "store/error.hpp"
#include "store/transport/transport_statements.hpp"

#include <string>
#include <string_view>

namespace skein::store {

namespace {

bool has_table(sqlite::connection connection, std::string_view name)
{
    sqlite::statement find(connection, "SELECT 1 FROM sqlite_schema"
                                       " WHERE type = 'table' AND name = ?1 COLLATE NOCASE");
    return find.start(name).step();
}

/// Tables of these names are an application's own as likely as not.
bool has_exactly(sqlite::connection connection, std::string_view table, std::string_view columns)
{
    sqlite::statement find(connection, "SELECT group_concat(name) FROM"
                                       " (SELECT name FROM pragma_table_info(?1) ORDER BY cid)");
    sqlite::execution found = find.start(table);
    return has_table(connection, table) && found.step() && found.text(0) == columns;
}

bool holds_messages(sqlite::connection connection, const transport_names& names)
{
    sqlite::statement find(connection, "SELECT 1 FROM " + names.messages + " LIMIT 1");
    return find.start().step();
}

/// Numbers the messages from where the other table has come to, if that is further.
void continue_numbers(sqlite::connection connection, const std::string& table,
                      const std::string& other)
{
    connection.execute("INSERT INTO sqlite_sequence (name, seq) SELECT '" + table +
                       "', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '" +
                       table + "')");
    connection.execute("UPDATE sqlite_sequence SET seq = max(seq, coalesce((SELECT seq FROM"
                       " sqlite_sequence WHERE name = '" +
                       other + "' COLLATE NOCASE), 0)) WHERE name = '" + table + "'");
}

} // namespace

bool adopt_unprefixed(sqlite::connection connection, const transport_names& names)
{
    require_known_addition(connection, names.addition(), transport_additions_version);
    const bool has_groups = has_table(connection, "groups");
    if (!has_exactly(connection, "messages", "seq,group_id,event,locked_by,lock_expiry") ||
        (has_groups && !has_exactly(connection, "groups", "group_id,last_claimed_at,priority"))) {
        return false;
    }
    if (has_table(connection, names.messages)) {
        if (holds_messages(connection, names)) {
            throw invalid_argument("prefix: " + names.messages +
                                   " holds messages already; a prefix whose tables are empty or"
                                   " not there is accepted");
        }
        continue_numbers(connection, "messages", names.messages);
    }
    connection.execute("DROP TABLE IF EXISTS " + names.messages);
    connection.execute("DROP TABLE IF EXISTS " + names.groups);
    for (const std::string& each : renaming_statements(names, has_groups)) {
        connection.execute(each);
    }
    create_transport(connection, names);
    return true;
}

} // namespace skein::store
