#include "store/indexed_groups.hpp"

namespace skein::store {

namespace {

// Also the most groups that one claim frees: many leases may end at one moment.
constexpr int lapsed_at_once = 256;

// The highest tier: other programs may write any priority, and the index counts those above as 4.
constexpr int highest_priority = 4;

std::string probe(const transport_names& names, const std::string& index, const std::string& where)
{
    return "SELECT rowid, group_id, last_claimed_at FROM " + names.groups + " INDEXED BY " + index +
           " WHERE blocked_until IS NULL AND priority >= 0 AND " + where +
           " ORDER BY last_claimed_at, rowid LIMIT 1";
}

void keep_first(std::optional<group_candidate>& best, std::optional<group_candidate> other)
{
    if (other && (!best || other->precedes(*best))) {
        best = std::move(other);
    }
}

std::optional<group_candidate> first_row(sqlite::execution found)
{
    if (!found.step()) {
        return std::nullopt;
    }
    return group_candidate{found.integer(0), std::string(found.text(1)), found.real(2)};
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
      by_priority_(connection, probe(names, names.free_by_priority, "min(priority, 4) = ?1")),
      by_key_(connection, probe(names, names.free_by_key, "routing_key = ?1")),
      by_key_and_priority_(connection, probe(names, names.free_by_key_and_priority,
                                             "routing_key = ?1 AND min(priority, 4) = ?2")),
      set_blocked_(connection,
                   "UPDATE " + names.groups + " SET blocked_until = ?2 WHERE rowid = ?1"),
      set_claimed_(connection, "UPDATE " + names.groups +
                                   " SET last_claimed_at = ?2, blocked_until = ?3 WHERE rowid = ?1")
{
}

bool indexed_groups::has_work(const claim_filter& filter, double now)
{
    return any_lapsed(now) || next(filter, now).has_value();
}

bool indexed_groups::free_lapsed(double now)
{
    return any_lapsed(now) && free_lapsed_.run(now, lapsed_at_once) > 0;
}

std::optional<group_candidate> indexed_groups::next(const claim_filter& filter, double /*now*/)
{
    if (!filter.routing_keys) {
        return next_of_any_key(filter.min_priority);
    }
    std::optional<group_candidate> best;
    for (const std::string& key : *filter.routing_keys) {
        keep_first(best, next_of_key(key, filter.min_priority));
    }
    return best;
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

std::optional<group_candidate> indexed_groups::next_of_any_key(int min_priority)
{
    std::optional<group_candidate> best;
    for (int priority = min_priority; priority <= highest_priority; ++priority) {
        keep_first(best, first_row(by_priority_.start(priority)));
    }
    return best;
}

std::optional<group_candidate> indexed_groups::next_of_key(std::string_view key, int min_priority)
{
    if (min_priority == 0) {
        return first_row(by_key_.start(key));
    }
    std::optional<group_candidate> best;
    for (int priority = min_priority; priority <= highest_priority; ++priority) {
        keep_first(best, first_row(by_key_and_priority_.start(key, priority)));
    }
    return best;
}

bool indexed_groups::any_lapsed(double now)
{
    return any_lapsed_.start(now).step();
}

} // namespace skein::store
