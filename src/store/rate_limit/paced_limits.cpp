#include "store/rate_limit/paced_limits.hpp"

#include "store/error.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace skein::store {

namespace {

// Of a time, and of a whole burst: the sum of both stays in range.
constexpr std::int64_t farthest = std::numeric_limits<std::int64_t>::max() / 2;

/// A limit as it is at some moment.
struct moment {
    moment(const pace& wanted, std::int64_t time, std::optional<std::int64_t> stored)
        : now(std::clamp(time, -farthest, farthest))
    {
        const std::int64_t burst = std::min(wanted.burst, farthest);
        const std::int64_t rounded_up = (wanted.per - 1) / wanted.permits + 1;
        interval = std::min(rounded_up, farthest / burst);
        tolerance = (burst - 1) * interval;
        arrival = std::clamp(stored.value_or(now), now, now + tolerance + interval);
    }

    [[nodiscard]] std::int64_t free_at() const { return std::max(now, arrival - tolerance); }
    [[nodiscard]] bool is_free() const { return arrival - now <= tolerance; }

    std::int64_t now;
    std::int64_t interval = 0;  ///< between two permits
    std::int64_t tolerance = 0; ///< how far ahead the arrival may be while there is a permit
    std::int64_t arrival = 0;
};

} // namespace

void require_pace(const pace& wanted)
{
    if (wanted.permits <= 0 || wanted.per <= 0 || wanted.burst <= 0) {
        throw invalid_argument("permits, per and burst must be positive, got " +
                               std::to_string(wanted.permits) + ", " + std::to_string(wanted.per) +
                               " and " + std::to_string(wanted.burst));
    }
}

paced_limits::paced_limits(sqlite::connection connection)
    : read_(connection, "SELECT arrival FROM _skein_rate_limits WHERE name = ?1"),
      write_(connection, "INSERT INTO _skein_rate_limits (name, arrival) VALUES (?1, ?2)"
                         " ON CONFLICT (name) DO UPDATE SET arrival = excluded.arrival"),
      sweep_(connection, "DELETE FROM _skein_rate_limits WHERE name IN"
                         " (SELECT name FROM _skein_rate_limits WHERE arrival <= ?2"
                         " ORDER BY arrival LIMIT ?1)")
{
}

permit_attempt paced_limits::try_take(std::string_view name, const pace& wanted, std::int64_t now)
{
    const std::optional<std::int64_t> stored = stored_arrival(name);
    moment limit(wanted, now, stored);
    const bool is_taken = limit.is_free();
    if (is_taken) {
        limit.arrival += limit.interval;
    }
    // Also without a permit: each try would pull it back to a later time, always just too far
    // ahead, if the first one were not kept.
    const bool is_pulled_back = !is_taken && stored > limit.arrival;
    if ((is_taken || is_pulled_back) && write_.run(name, limit.arrival) == 0) {
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER,
                            "a trigger on _skein_rate_limits ignores the permit");
    }
    return {is_taken, limit.free_at(), is_pulled_back};
}

permit_forecast paced_limits::look(std::string_view name, const pace& wanted, std::int64_t now)
{
    const std::optional<std::int64_t> stored = stored_arrival(name);
    const moment limit(wanted, now, stored);
    return {limit.is_free() ? now : limit.free_at(), stored > limit.arrival};
}

std::int64_t paced_limits::sweep(std::int64_t most, std::int64_t now)
{
    return sweep_.run(most, now);
}

std::optional<std::int64_t> paced_limits::stored_arrival(std::string_view name)
{
    sqlite::execution found = read_.start(name);
    if (!found.step()) {
        return std::nullopt;
    }
    return found.integer(0);
}

} // namespace skein::store
