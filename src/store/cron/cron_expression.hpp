#pragma once

#include "store/cron/cron_field.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace skein::store {

/// When a schedule fires, as its text says.
struct cron_expression {
    /// The same in numbers alone, as it goes into a row; behind the prefix of the zone, if any.
    std::string text;
    std::string zone; ///< "Europe/Berlin"; empty: the zone of the process
    /// Seconds between one moment and the next; 0 when the fields say when.
    std::int64_t interval = 0;
    cron_field second;
    cron_field minute;
    cron_field hour;
    cron_field day;
    cron_field month;
    cron_field weekday; ///< 0 is Sunday

    /// Whether it restricts the day of the month and that of the week. Which days that means
    /// depends on whether it has a zone: see `next_occurrence`.
    [[nodiscard]] bool restricts_both_days() const noexcept
    {
        return interval == 0 && !day.starts_with_star && !weekday.starts_with_star;
    }

    bool operator==(const cron_expression&) const = default;
};

/// What the text of an expression with a zone starts with; the zone and a space follow.
inline constexpr std::string_view zone_prefix = "CRON_TZ=";

/// The longest text of an expression that can be registered, in bytes.
inline constexpr std::size_t longest_cron = 1024;

/// Seconds in the time within which an expression must have a moment.
inline constexpr std::int64_t cron_horizon = std::int64_t{36525} * 86400;

/// Reads an expression, with any white space around it and between its fields:
///
///     minute hour day-of-month month day-of-week, or the same behind a field of seconds;
///     each a list of *, N, A-B, any of them with /step (N/step means N);
///     @every <n><unit>, where the unit is s, m, h or d.
///
/// Beyond the shared grammar: the names JAN to DEC and SUN to SAT in any case, 7 for Sunday,
/// @yearly @annually @monthly @weekly @daily @midnight @hourly, and before the fields or one of
/// these `CRON_TZ=<zone> `, whose zone is not looked up here. To be registered, an expression holds
/// no N/step, is no longer than `longest_cron`, and its @every no longer than `cron_horizon`.
///
/// Throws `store::invalid_argument`, whose text says where and why.
[[nodiscard]] cron_expression parse_cron(std::string_view text, cron_grammar grammar);

} // namespace skein::store
