#include "store/transport/transport_inspection.hpp"

namespace skein::store {

namespace {

// At the very end of its lease a message is still held.
constexpr const char* holds = "m.locked_by IS NOT NULL AND m.lock_expiry >= ?1";

/// The groups as the newest shape has them, whatever the file has.
std::string rows_of(const transport_names& names, const transport_tables& tables)
{
    if (!tables.has_groups) {
        return "(SELECT NULL AS group_id, 0.0 AS last_claimed_at, 0 AS priority,"
               " NULL AS routing_key WHERE 0)";
    }
    if (!tables.has_routing_keys) {
        return "(SELECT group_id, last_claimed_at, priority, NULL AS routing_key FROM " +
               names.groups + ")";
    }
    return names.groups;
}

} // namespace

transport_inspection::transport_inspection(sqlite::connection connection,
                                           const transport_names& names,
                                           const transport_tables& tables)
    : is_of_older_shape_(!tables.has_routing_keys),
      count_messages_(connection, "SELECT count(*) FROM " + names.messages),
      count_rows_(connection, "SELECT count(*) FROM " + rows_of(names, tables)),
      count_groups_(connection, with_heads(names) + "SELECT count(*), count(*) FILTER (WHERE " +
                                    holds + " AND m.locked_by <> ?2), count(*) FILTER (WHERE " +
                                    holds +
                                    " AND m.locked_by = ?2),"
                                    " count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM " +
                                    rows_of(names, tables) +
                                    " r WHERE r.group_id = m.group_id)) FROM heads JOIN " +
                                    names.messages + " m ON m.seq = heads.seq"),
      find_oldest_(connection, "SELECT seq, group_id FROM " + names.messages +
                                   " WHERE locked_by IS NULL OR lock_expiry IS NULL"
                                   " OR lock_expiry < ?1 ORDER BY seq LIMIT 1"),
      read_groups_(connection,
                   "SELECT r.group_id, r.priority, r.routing_key, r.last_claimed_at,"
                   " (SELECT count(*) FROM " +
                       names.messages + " WHERE group_id = r.group_id), " + holds +
                       ", m.locked_by, m.lock_expiry FROM " + rows_of(names, tables) +
                       " r LEFT JOIN " + names.messages + " m ON m.seq = (SELECT min(seq) FROM " +
                       names.messages + " WHERE group_id = r.group_id)" +
                       // A name that is empty comes first, and is not the absence of one.
                       " WHERE r.group_id >= ?2 AND r.group_id IS NOT ?3"
                       " ORDER BY r.group_id LIMIT ?4")
{
}

message_counts transport_inspection::counts(double now)
{
    message_counts counts;
    {
        sqlite::execution found = count_messages_.start();
        found.step();
        counts.messages = found.integer(0);
    }
    {
        sqlite::execution found = count_groups_.start(now, parked);
        found.step();
        counts.groups = found.integer(0);
        counts.in_flight = found.integer(1);
        counts.parked = found.integer(2);
        counts.orphans = found.integer(3);
    }
    {
        sqlite::execution found = count_rows_.start();
        found.step();
        counts.ghosts = found.integer(0) - (counts.groups - counts.orphans);
    }
    sqlite::execution found = find_oldest_.start(now);
    if (found.step()) {
        counts.oldest_waiting = {found.integer(0), std::string(found.text(1))};
    }
    return counts;
}

std::vector<inspected_group>
transport_inspection::groups(std::int64_t limit, std::optional<std::string_view> after, double now)
{
    std::vector<inspected_group> groups;
    sqlite::execution found = read_groups_.start(now, after.value_or(""), after, limit);
    while (found.step()) {
        inspected_group& group = groups.emplace_back();
        group.group_id = found.text(0);
        group.priority = found.integer(1);
        if (!found.is_null(2)) {
            group.routing_key.emplace(found.text(2));
        }
        group.last_claimed_at = found.real(3);
        group.messages = found.integer(4);
        if (found.integer(5) != 0) {
            group.lock = {std::string(found.text(6)), found.real(7)};
        }
    }
    return groups;
}

std::string with_heads(const transport_names& names)
{
    const std::string first = " ORDER BY group_id, seq LIMIT 1)";
    return "WITH RECURSIVE heads (seq) AS (SELECT (SELECT seq FROM " + names.messages + first +
           " UNION ALL SELECT (SELECT seq FROM " + names.messages + " WHERE group_id > h.group_id" +
           first + " FROM heads JOIN " + names.messages + " h ON h.seq = heads.seq) ";
}

} // namespace skein::store
