#include "store/transport/transport_schema.hpp"

#include "sqlite/statement.hpp"
#include "store/additions.hpp"
#include "store/error.hpp"
#include "store/transport/transport_statements.hpp"

#include <algorithm>

namespace skein::store {

namespace {

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
    require_known_addition(connection, names.addition(), transport_additions_version);
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
    for (const std::string& each :
         completing_statements(names, find_transport(connection, names))) {
        connection.execute(each);
    }
}

} // namespace skein::store
