#include "store/transport/indexed_groups.hpp"

namespace skein::store {

namespace {

// Many leases may end at one moment.
constexpr int lapsed_at_once = 256;

// The highest tier: other programs may write any priority, and the index counts those above as 4.
constexpr int highest_priority = 4;

/// `?1` is the most groups that are wanted.
std::string probe(const transport_names& names, const std::string& index, const std::string& where)
{
    return "SELECT rowid, group_id, last_claimed_at FROM " + names.groups + " INDEXED BY " + index +
           " WHERE blocked_until IS NULL AND priority >= 0 AND " + where +
           " ORDER BY last_claimed_at, rowid LIMIT ?1";
}

} // namespace

indexed_groups::indexed_groups(sqlite::connection connection, const transport_names& names)
    : any_lapsed_(connection, "SELECT 1 FROM " + names.groups + " INDEXED BY " +
                                  names.blocked_by_time + " WHERE blocked_until < ?1 LIMIT 1"),
      free_lapsed_(connection, "UPDATE " + names.groups +
                                   " SET blocked_until = NULL WHERE rowid IN (SELECT rowid FROM " +
                                   names.groups + " INDEXED BY " + names.blocked_by_time +
                                   " WHERE blocked_until < ?1 ORDER BY blocked_until LIMIT ?2)"),
      next_lapse_(connection, "SELECT min(blocked_until) FROM " + names.groups + " INDEXED BY " +
                                  names.blocked_by_time + " WHERE blocked_until >= ?1"),
      by_priority_(connection, probe(names, names.free_by_priority, "min(priority, 4) = ?2")),
      by_key_(connection, probe(names, names.free_by_key, "routing_key = ?2")),
      by_key_and_priority_(connection, probe(names, names.free_by_key_and_priority,
                                             "routing_key IS ?2 AND min(priority, 4) = ?3")),
      set_blocked_(connection,
                   "UPDATE " + names.groups + " SET blocked_until = ?2 WHERE rowid = ?1"),
      set_claimed_(connection, "UPDATE " + names.groups +
                                   " SET last_claimed_at = ?2, blocked_until = ?3 WHERE rowid = ?1")
{
}

bool indexed_groups::has_work(const claim_filter& filter, double now)
{
    return any_lapsed(now) || !next(filter, now, 1).empty();
}

std::size_t indexed_groups::free_lapsed(double now)
{
    return any_lapsed(now) ? static_cast<std::size_t>(free_lapsed_.run(now, lapsed_at_once)) : 0;
}

std::vector<group_candidate> indexed_groups::next(const claim_filter& filter, double /*now*/,
                                                  std::size_t most)
{
    const auto limit = static_cast<std::int64_t>(most);
    group_candidates found;
    if (!filter.routing_keys) {
        probe_any_key(found, filter.min_priority, limit);
    } else {
        for (const std::string& key : *filter.routing_keys) {
            probe_key(found, key, filter.min_priority, limit);
        }
        if (filter.or_without_key) {
            probe_key(found, std::nullopt, filter.min_priority, limit);
        }
    }
    keep_first(found, most);
    return found;
}

std::optional<double> indexed_groups::next_lapse(double now)
{
    sqlite::execution found = next_lapse_.start(now);
    if (!found.step() || found.is_null(0)) {
        return std::nullopt;
    }
    return found.real(0);
}

void indexed_groups::set_blocked(const group_candidate& group, double end)
{
    set_blocked_.run(group.rowid, end);
}

void indexed_groups::set_claimed(const group_candidate& group, double stamp, double end)
{
    set_claimed_.run(group.rowid, stamp, end);
}

void indexed_groups::probe_any_key(group_candidates& found, int min_priority, std::int64_t most)
{
    for (int priority = min_priority; priority <= highest_priority; ++priority) {
        take_rows(found, by_priority_.start(most, priority));
    }
}

void indexed_groups::probe_key(group_candidates& found, std::optional<std::string_view> key,
                               int min_priority, std::int64_t most)
{
    if (key && min_priority == 0) {
        take_rows(found, by_key_.start(most, key));
        return;
    }
    for (int priority = min_priority; priority <= highest_priority; ++priority) {
        take_rows(found, by_key_and_priority_.start(most, key, priority));
    }
}

bool indexed_groups::any_lapsed(double now)
{
    return any_lapsed_.start(now).step();
}

} // namespace skein::store
