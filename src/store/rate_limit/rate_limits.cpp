#include "store/rate_limit/rate_limits.hpp"

#include "store/error.hpp"
#include "store/saturating.hpp"

#include <string>

namespace skein::store {

namespace {

// Before the epoch it is the end of the window, since the quotient is rounded towards zero: every
// program that counts in the table does so.
std::int64_t window_of(std::int64_t now, std::int64_t per)
{
    return now / per * per;
}

std::int64_t next_window(std::int64_t now, std::int64_t per)
{
    const std::int64_t window = window_of(now, per);
    return saturating_add(window, window < 0 ? 1 : per);
}

} // namespace

void require_rate_limit(std::int64_t limit, std::int64_t per)
{
    if (limit <= 0 || per <= 0) {
        throw invalid_argument("limit and per must be positive, got " + std::to_string(limit) +
                               " and " + std::to_string(per));
    }
}

rate_limits::rate_limits(sqlite::connection connection)
    : take_(connection,
            "INSERT INTO _honker_rate_limits (name, window_start, count) VALUES (?1, ?2, 1)"
            " ON CONFLICT (name, window_start) DO UPDATE SET count = count + 1 WHERE count < ?3"),
      is_full_(connection, "SELECT 1 FROM _honker_rate_limits"
                           " WHERE name = ?1 AND window_start = ?2 AND count >= ?3"),
      sweep_(connection, "DELETE FROM _honker_rate_limits WHERE rowid IN"
                         " (SELECT rowid FROM _honker_rate_limits WHERE window_start < ?2"
                         " ORDER BY window_start LIMIT ?1)")
{
}

bool rate_limits::try_take(std::string_view name, std::int64_t limit, std::int64_t per,
                           std::int64_t now)
{
    const bool is_taken = take_.run(name, window_of(now, per), limit) == 1;
    if (!is_taken && next_free(name, limit, per, now) == now) {
        // A waiter would try again and again.
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER,
                            "a trigger on _honker_rate_limits ignores the permit");
    }
    return is_taken;
}

std::int64_t rate_limits::next_free(std::string_view name, std::int64_t limit, std::int64_t per,
                                    std::int64_t now)
{
    const bool is_full = is_full_.start(name, window_of(now, per), limit).step();
    return is_full ? next_window(now, per) : now;
}

std::int64_t rate_limits::sweep(std::int64_t older_than, std::int64_t most, std::int64_t now)
{
    return sweep_.run(most, saturating_subtract(now, older_than));
}

} // namespace skein::store
