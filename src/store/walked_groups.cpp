#include "store/walked_groups.hpp"

namespace skein::store {

namespace {

std::string walk(const transport_names& names, const std::string& condition)
{
    return "SELECT g.rowid, g.group_id, g.last_claimed_at FROM " + names.groups +
           " g WHERE g.priority >= ?1 AND NOT EXISTS (SELECT 1 FROM " + names.messages +
           " m WHERE m.seq = (SELECT min(seq) FROM " + names.messages +
           " WHERE group_id = g.group_id) AND m.locked_by IS NOT NULL AND m.lock_expiry >= ?2)" +
           condition + " ORDER BY g.last_claimed_at, g.rowid LIMIT 1";
}

void keep_first(std::optional<group_candidate>& best, sqlite::execution found)
{
    if (!found.step()) {
        return;
    }
    group_candidate other{found.integer(0), std::string(found.text(1)), found.real(2)};
    if (!best || other.precedes(*best)) {
        best = std::move(other);
    }
}

} // namespace

walked_groups::walked_groups(sqlite::connection connection, const transport_names& names)
    : of_any_key_(connection, walk(names, "")),
      of_key_(connection, walk(names, " AND g.routing_key = ?3")),
      next_lapse_(connection, "SELECT min(lock_expiry) FROM " + names.messages +
                                  " WHERE locked_by IS NOT NULL AND lock_expiry >= ?1"),
      set_claimed_(connection,
                   "UPDATE " + names.groups + " SET last_claimed_at = ?2 WHERE rowid = ?1")
{
}

bool walked_groups::has_work(const claim_filter& filter, double now)
{
    return next(filter, now).has_value();
}

std::optional<group_candidate> walked_groups::next(const claim_filter& filter, double now)
{
    std::optional<group_candidate> best;
    if (!filter.routing_keys) {
        keep_first(best, of_any_key_.start(filter.min_priority, now));
        return best;
    }
    for (const std::string& key : *filter.routing_keys) {
        keep_first(best, of_key_.start(filter.min_priority, now, key));
    }
    return best;
}

std::optional<double> walked_groups::next_lapse(double now)
{
    sqlite::execution found = next_lapse_.start(now);
    if (!found.step() || found.is_null(0)) {
        return std::nullopt;
    }
    return found.real(0);
}

void walked_groups::set_claimed(const group_candidate& group, double stamp, double /*end*/)
{
    set_claimed_.run(group.rowid, stamp);
}

} // namespace skein::store
