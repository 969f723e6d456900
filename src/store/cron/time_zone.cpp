#include "store/cron/time_zone.hpp"

#include "store/error.hpp"
#include "store/queue/error_text.hpp"

#include <algorithm>
#include <ctime>

namespace skein::store {

namespace {

constexpr std::int64_t one_day = 86400;

std::int64_t process_offset_at(std::int64_t moment)
{
    const auto time = static_cast<std::time_t>(moment);
    std::tm fields{};
    return localtime_r(&time, &fields) == nullptr ? 0 : std::int64_t{fields.tm_gmtoff};
}

/// Keeps a name inside the folder, and from what else Abseil takes for a zone: "libc:UTC",
/// "Fixed/UTC+01:00:00", "file:zone", and the zone of the process.
bool is_name_in_database(std::string_view name)
{
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789+-_/";
    return !name.starts_with('/') && name.find("//") == std::string_view::npos &&
           name.find_first_not_of(allowed) == std::string_view::npos && name != "localtime";
}

/// The moment behind `before` from which on another offset holds, which it does at `after`.
std::int64_t change_between(const time_zone& zone, std::int64_t before, std::int64_t after)
{
    const std::int64_t offset = zone.offset_at(before);
    while (after - before > 1) {
        const std::int64_t middle = before + (after - before) / 2;
        (zone.offset_at(middle) == offset ? before : after) = middle;
    }
    return after;
}

} // namespace

std::int64_t time_zone::offset_at(std::int64_t moment) const
{
    return zone_ ? zone_->At(absl::FromUnixSeconds(moment)).offset : process_offset_at(moment);
}

time_zone find_time_zone(std::string_view name)
{
    if (name.empty()) {
        // localtime_r need not look at TZ by itself.
        tzset();
        return {};
    }
    absl::TimeZone zone;
    if (!is_name_in_database(name) || !absl::LoadTimeZone({name.data(), name.size()}, &zone)) {
        throw invalid_argument("the system's time zone database has no zone \"" +
                               kept_error_text(name) + "\"");
    }
    return time_zone(zone);
}

// No clock is a day or more away from UTC, and no zone changes its clocks twice within two days.
local_moments moments_of(const time_zone& zone, std::int64_t local)
{
    using enum local_moments::kind;
    const std::int64_t before = zone.offset_at(local - one_day);
    const std::int64_t after = zone.offset_at(local + one_day);
    if (before == after) {
        return {once, local - before, local - before, local, local};
    }
    const std::int64_t change = change_between(zone, local - one_day, local + one_day);
    const std::int64_t begin = change + std::min(before, after);
    const std::int64_t end = change + std::max(before, after);
    if (local < begin || local >= end) {
        const std::int64_t moment = local - (local < begin ? before : after);
        return {once, moment, moment, local, local};
    }
    if (before < after) {
        return {missing, change, change, begin, end};
    }
    return {twice, local - before, local - after, begin, end};
}

} // namespace skein::store
