#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace skein::store {

/// A day of each year and a time on it, when the clocks change.
struct zone_change {
    enum class kind { julian_day, day_of_year, weekday };

    kind counted = kind::weekday;
    int month = 1;
    int week = 1;             ///< 5 is the last one
    int day = 0;              ///< of the week, 0 is Sunday; or of the year
    std::int64_t time = 7200; ///< seconds from the start of that day; negative and beyond it, too
};

/// How a zone goes on after the last change that its file lists: the text that POSIX defines for
/// TZ, "CET-1CEST,M3.5.0,M10.5.0/3".
struct zone_rule {
    std::int64_t standard = 0; ///< seconds east of UTC
    std::int64_t summer = 0;
    bool has_summer = false;
    zone_change start;
    zone_change end;

    /// Seconds east of UTC at this moment, in epoch seconds of the years 1 to 9999.
    [[nodiscard]] std::int64_t offset_at(std::int64_t moment) const;
};

/// Nothing when that is no such text, or one without rules for its summer time.
[[nodiscard]] std::optional<zone_rule> parse_zone_rule(std::string_view text);

} // namespace skein::store
