#include "store/queue/claim_forecast.hpp"

#include "store/queue/claimable_jobs.hpp"
#include "store/queue/held_jobs_schema.hpp"
#include "store/saturating.hpp"

#include <algorithm>

namespace skein::store {

namespace {

constexpr int farthest = 64;

using moment = std::optional<std::int64_t>;

/// The time of the first row that is wanted, or of the last one that is looked at.
moment first_wanted(sqlite::execution rows)
{
    moment time;
    for (int seen = 0; rows.step(); ++seen) {
        if (seen == farthest || rows.integer(1) != 0) {
            return rows.integer(0);
        }
    }
    return time;
}

moment earlier(moment a, moment b)
{
    return a && b ? std::min(*a, *b) : a ? a : b;
}

/// Other programs write anything: what is no number is never due, since SQLite takes any text for
/// later than every number, and what lies between two seconds is due at the second one.
std::string is_number(const std::string& time)
{
    return time + " <= 9223372036854775807";
}

std::string rounded_up(const std::string& time)
{
    return time + " + (" + time + " > CAST(" + time + " AS INTEGER))";
}

std::string walk(const std::string& time, const std::string& column, const std::string& counts,
                 const std::string& index, const std::string& state)
{
    return "SELECT " + time + ", " + is_wanted + " FROM _honker_live INDEXED BY " + index +
           " WHERE state = '" + state + "' AND queue = ?1 AND " + counts + " ORDER BY " + column;
}

/// Time does not give back those that are held, and there may be many of them at that moment. With
/// two bounds on one side the walk could end at the wrong one.
std::string walk_scheduled(const std::string& side_of_held)
{
    return walk(rounded_up("run_at"), "run_at", side_of_held, "_honker_live_scheduled",
                "scheduled");
}

/// When a claim next makes dead letters, if its moment comes: at the end of a lease, whatever it is
/// worth, and where a job expires. Those that have expired in the hands of their workers wait for
/// the end of the lease.
std::string first_end()
{
    return "SELECT min(moment) FROM (SELECT min(claim_expires_at) + 1 AS moment FROM _honker_live"
           " INDEXED BY _honker_live_processing_deadline WHERE state = 'processing'"
           " AND queue = ?1 AND claim_expires_at < 9223372036854775807 UNION ALL"
           " SELECT min(expires_at) FROM _honker_live INDEXED BY _honker_live_expiry"
           " WHERE queue = ?1 AND expires_at > ?2 AND " +
           is_number("expires_at") +
           " UNION ALL SELECT min(expires_at) FROM (SELECT state, expires_at FROM _honker_live"
           " INDEXED BY _honker_live_expiry WHERE queue = ?1 AND expires_at <= ?2"
           " ORDER BY expires_at, id LIMIT 1000) WHERE state <> 'processing')";
}

} // namespace

claim_forecast::claim_forecast(sqlite::connection connection)
    : find_ready_(connection, "SELECT 1" + ready_jobs() + " LIMIT 1"),
      find_held_(connection, "SELECT 1 FROM _honker_live INDEXED BY _honker_live_scheduled"
                             " WHERE state = 'scheduled' AND queue = ?1 AND run_at = " +
                                 std::to_string(held_until) + " LIMIT 1"),
      first_end_(connection, first_end()),
      first_pending_(connection,
                     "SELECT " + rounded_up("min(run_at)") +
                         " FROM _honker_live INDEXED BY _honker_live_ready WHERE state = 'pending'"
                         " AND queue = ?1 AND " +
                         is_number("run_at") + " AND " + is_wanted),
      walk_leases_(connection,
                   walk("claim_expires_at", "claim_expires_at", is_number("claim_expires_at"),
                        "_honker_live_processing_deadline", "processing")),
      walk_scheduled_(connection, walk_scheduled("run_at < " + std::to_string(held_until))),
      walk_beyond_held_(connection, walk_scheduled("run_at > " + std::to_string(held_until) +
                                                   " AND " + is_number("run_at")))
{
}

std::optional<std::int64_t> claim_forecast::next_claim_at(std::string_view queue, std::int64_t now)
{
    if (find_ready_.start(queue, now).step()) {
        return now;
    }
    moment next = first_wanted(walk_scheduled_.start(queue, now));
    if (!next) {
        next = first_wanted(walk_beyond_held_.start(queue, now));
    }
    if (const moment lease_end = first_wanted(walk_leases_.start(queue, now))) {
        next = earlier(next, saturating_add(*lease_end, 1));
    }
    // None of those is ready, but programs that know no scheduled state write such for later.
    sqlite::execution pending = first_pending_.start(queue, now);
    if (pending.step() && !pending.is_null(0)) {
        next = earlier(next, pending.integer(0));
    }
    next = earlier(next, next_end_at(queue, now));
    return next ? moment(std::max(*next, now)) : next;
}

std::optional<std::int64_t> claim_forecast::next_end_at(std::string_view queue, std::int64_t now)
{
    if (!find_held_.start(queue).step()) {
        return std::nullopt;
    }
    sqlite::execution ends = first_end_.start(queue, now);
    return ends.step() && !ends.is_null(0) ? moment(ends.integer(0)) : std::nullopt;
}

} // namespace skein::store
