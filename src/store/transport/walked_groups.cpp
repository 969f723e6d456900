#include "store/transport/walked_groups.hpp"

namespace skein::store {

namespace {

/// `?1` is the lowest priority, `?2` the time, `?3` the most groups that are wanted.
std::string walk(const transport_names& names, const std::string& condition)
{
    return "SELECT g.rowid, g.group_id, g.last_claimed_at FROM " + names.groups +
           " g WHERE g.priority >= ?1 AND NOT EXISTS (SELECT 1 FROM " + names.messages +
           " m WHERE m.seq = (SELECT min(seq) FROM " + names.messages +
           " WHERE group_id = g.group_id) AND m.locked_by IS NOT NULL AND m.lock_expiry >= ?2)" +
           condition + " ORDER BY g.last_claimed_at, g.rowid LIMIT ?3";
}

} // namespace

walked_groups::walked_groups(sqlite::connection connection, const transport_names& names)
    : of_any_key_(connection, walk(names, "")),
      of_key_(connection, walk(names, " AND g.routing_key IS ?4")),
      next_lapse_(connection, "SELECT min(lock_expiry) FROM " + names.messages +
                                  " WHERE locked_by IS NOT NULL AND lock_expiry >= ?1"),
      set_claimed_(connection,
                   "UPDATE " + names.groups + " SET last_claimed_at = ?2 WHERE rowid = ?1")
{
}

bool walked_groups::has_work(const claim_filter& filter, double now)
{
    return !next(filter, now, 1).empty();
}

std::vector<group_candidate> walked_groups::next(const claim_filter& filter, double now,
                                                 std::size_t most)
{
    const auto limit = static_cast<std::int64_t>(most);
    std::vector<group_candidate> found;
    if (!filter.routing_keys) {
        take_rows(found, of_any_key_.start(filter.min_priority, now, limit));
        return found;
    }
    for (const std::string& key : *filter.routing_keys) {
        take_rows(found, of_key_.start(filter.min_priority, now, limit, key));
    }
    if (filter.or_without_key) {
        take_rows(found, of_key_.start(filter.min_priority, now, limit, std::nullopt));
    }
    keep_first(found, most);
    return found;
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
