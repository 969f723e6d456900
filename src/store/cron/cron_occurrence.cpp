#include "store/cron/cron_occurrence.hpp"

#include "store/saturating.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

namespace skein::store {

namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::seconds;

// The moments in which dates are computed: of the years 1 and 9999, with room for every offset.
constexpr std::int64_t room = seconds(days{3}).count();
constexpr std::int64_t earliest = -62135596800 + room;
constexpr std::int64_t latest = 253402300799 - room;

constexpr std::chrono::years longest_search{100};

std::optional<unsigned> first_value(const cron_field& field, unsigned from)
{
    const std::uint64_t rest = from < 64 ? field.values >> from << from : 0;
    return rest == 0 ? std::nullopt : std::optional(static_cast<unsigned>(std::countr_zero(rest)));
}

unsigned first_value(const cron_field& field)
{
    return static_cast<unsigned>(std::countr_zero(field.values));
}

seconds time_of(unsigned hour, unsigned minute, unsigned second)
{
    return seconds{(hour * 60 + minute) * 60 + second};
}

/// The first time of a day that is not before `from`.
std::optional<seconds> first_time(const cron_expression& expression, seconds from)
{
    const std::chrono::hh_mm_ss at(from);
    const auto hour = static_cast<unsigned>(at.hours().count());
    const auto minute = static_cast<unsigned>(at.minutes().count());
    if (expression.hour.has(hour)) {
        const auto second = static_cast<unsigned>(at.seconds().count());
        if (expression.minute.has(minute)) {
            if (const auto same = first_value(expression.second, second)) {
                return time_of(hour, minute, *same);
            }
        }
        if (const auto later = first_value(expression.minute, minute + 1)) {
            return time_of(hour, *later, first_value(expression.second));
        }
    }
    if (const auto later = first_value(expression.hour, hour + 1)) {
        return time_of(*later, first_value(expression.minute), first_value(expression.second));
    }
    return std::nullopt;
}

bool has_day(const cron_expression& expression, local_days day)
{
    const std::chrono::year_month_day date(day);
    const bool fits_month = expression.month.has(static_cast<unsigned>(date.month()));
    const bool fits_day = expression.day.has(static_cast<unsigned>(date.day()));
    const bool fits_weekday = expression.weekday.has(std::chrono::weekday(day).c_encoding());
    const bool is_either = !expression.zone.empty() && expression.restricts_both_days();
    return fits_month && (is_either ? fits_day || fits_weekday : fits_day && fits_weekday);
}

/// The first day that is not before `from`.
std::optional<local_days> first_day(const cron_expression& expression, local_days from)
{
    const std::chrono::year_month_day start(from);
    const std::chrono::year_month last_month = start.year() / start.month() + longest_search;
    for (auto month = start.year() / start.month(); month <= last_month;
         month += std::chrono::months{1}) {
        if (!expression.month.has(static_cast<unsigned>(month.month()))) {
            continue;
        }
        const local_days end = local_days{month / std::chrono::last} + days{1};
        for (local_days day = std::max(from, local_days{month / 1}); day < end; day += days{1}) {
            if (has_day(expression, day)) {
                return day;
            }
        }
    }
    return std::nullopt;
}

/// The first local time that is not before `from`, whether clocks show it or not.
std::optional<std::int64_t> first_local_time(const cron_expression& expression, std::int64_t from)
{
    const local_seconds start{seconds{from}};
    const auto today = std::chrono::floor<days>(start);
    if (has_day(expression, today)) {
        if (const auto time = first_time(expression, start - today)) {
            return (today + *time).time_since_epoch().count();
        }
    }
    const auto day = first_day(expression, today + days{1});
    const auto time = first_time(expression, seconds{0});
    if (!day || !time) {
        return std::nullopt;
    }
    return (*day + *time).time_since_epoch().count();
}

/// An expression that fires once for each local time.
std::optional<std::int64_t> next_of_clock(const cron_expression& expression, const time_zone& zone,
                                          std::int64_t after)
{
    std::int64_t from = zone.local_time(after) + 1;
    while (const auto local = first_local_time(expression, from)) {
        const local_moments found = moments_of(zone, *local);
        if (found.first > after) {
            return found.first;
        }
        // Shown for the second time, or skipped at the moment that has been: so are its neighbours.
        from = std::max(found.end, *local + 1);
    }
    return std::nullopt;
}

/// An expression that fires whenever the clocks show a local time of its own.
std::optional<std::int64_t> next_in_real_time(const cron_expression& expression,
                                              const time_zone& zone, std::int64_t after)
{
    const std::int64_t shown = zone.local_time(after);
    const local_moments now = moments_of(zone, shown);
    const bool is_to_come_again = now.found == local_moments::kind::twice && after == now.first;
    const std::int64_t backwards = now.second - now.first;

    std::int64_t from = shown + 1;
    while (const auto local = first_local_time(expression, from)) {
        if (is_to_come_again && *local >= now.end) {
            break;
        }
        const local_moments found = moments_of(zone, *local);
        if (found.found == local_moments::kind::missing) {
            from = found.end;
            continue;
        }
        return found.first > after ? found.first : found.second;
    }
    if (!is_to_come_again) {
        return std::nullopt;
    }
    // The second pass begins at the moment at which the first one ends.
    const std::int64_t second_pass = after + (now.end - shown);
    const auto again = first_local_time(expression, now.begin);
    if (again && *again < now.end) {
        return second_pass + (*again - now.begin);
    }
    return next_in_real_time(expression, zone, after + backwards + (now.end - 1 - shown));
}

} // namespace

std::optional<std::int64_t> next_occurrence(const cron_expression& expression,
                                            const time_zone& zone, std::int64_t after)
{
    if (expression.interval > 0) {
        const std::int64_t next = saturating_add(after, expression.interval);
        const bool is_known = next > after && next - expression.interval == after;
        return is_known ? std::optional(next) : std::nullopt;
    }
    after = std::max(after, earliest);
    if (after > latest) {
        return std::nullopt;
    }
    const auto next = expression.hour.starts_with_star ? next_in_real_time(expression, zone, after)
                                                       : next_of_clock(expression, zone, after);
    return next && *next <= latest ? next : std::nullopt;
}

} // namespace skein::store
