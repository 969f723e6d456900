#include "store/cron/zone_rule.hpp"

#include <chrono>

namespace skein::store {

namespace {

/// Reads from the front of a text; once something was not there, nothing is any more.
class rule_reader {
public:
    explicit rule_reader(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
    [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }
    [[nodiscard]] bool is_at(char c) const noexcept { return rest_.starts_with(c); }

    bool take(char c)
    {
        if (!is_at(c)) {
            return false;
        }
        rest_.remove_prefix(1);
        return true;
    }

    void demand(char c) { has_failed_ = !take(c) || has_failed_; }

    /// A number of at most three digits.
    int number(int lowest, int highest)
    {
        int value = 0;
        std::size_t digits = 0;
        for (; digits < rest_.size() && digits < 3 && is_digit(rest_[digits]); ++digits) {
            value = value * 10 + (rest_[digits] - '0');
        }
        rest_.remove_prefix(digits);
        has_failed_ = has_failed_ || digits == 0 || value < lowest || value > highest;
        return value;
    }

    /// "CEST" or "<+03>".
    void name()
    {
        const bool is_quoted = take('<');
        std::size_t length = 0;
        while (length < rest_.size() &&
               (is_quoted ? rest_[length] != '>' : is_letter(rest_[length]))) {
            ++length;
        }
        rest_.remove_prefix(length);
        has_failed_ = has_failed_ || length == 0;
        if (is_quoted) {
            demand('>');
        }
    }

    /// "[+|-]hh[:mm[:ss]]" in seconds.
    std::int64_t time()
    {
        const bool is_negative = take('-');
        if (!is_negative) {
            take('+');
        }
        std::int64_t seconds = number(0, 167) * std::int64_t{3600};
        if (take(':')) {
            seconds += number(0, 59) * std::int64_t{60};
            if (take(':')) {
                seconds += number(0, 59);
            }
        }
        return is_negative ? -seconds : seconds;
    }

    zone_change change()
    {
        zone_change read;
        if (take('M')) {
            read.month = number(1, 12);
            demand('.');
            read.week = number(1, 5);
            demand('.');
            read.day = number(0, 6);
        } else if (take('J')) {
            read.counted = zone_change::kind::julian_day;
            read.day = number(1, 365);
        } else {
            read.counted = zone_change::kind::day_of_year;
            read.day = number(0, 365);
        }
        if (take('/')) {
            read.time = time();
        }
        return read;
    }

private:
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    static bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

    std::string_view rest_;
    bool has_failed_ = false;
};

std::chrono::sys_days day_of(const zone_change& change, std::chrono::year year)
{
    using namespace std::chrono;
    const sys_days first = year / January / 1;
    switch (change.counted) {
    case zone_change::kind::julian_day: {
        // February 29 is never counted.
        const bool is_behind = year.is_leap() && change.day >= 60;
        return first + days{change.day - 1 + (is_behind ? 1 : 0)};
    }
    case zone_change::kind::day_of_year:
        return first + days{change.day};
    case zone_change::kind::weekday:
        break;
    }
    const weekday wanted(static_cast<unsigned>(change.day));
    const month in(static_cast<unsigned>(change.month));
    return change.week == 5 ? sys_days{year / in / wanted[last]}
                            : sys_days{year / in / wanted[static_cast<unsigned>(change.week)]};
}

/// Seconds since the epoch on the clock of the zone, as it goes up to the change.
std::int64_t local_time_of(const zone_change& change, std::chrono::year year)
{
    return std::chrono::seconds(day_of(change, year).time_since_epoch()).count() + change.time;
}

} // namespace

std::int64_t zone_rule::offset_at(std::int64_t moment) const
{
    if (!has_summer) {
        return standard;
    }
    using namespace std::chrono;
    const sys_seconds local{seconds{moment + standard}};
    const year year = year_month_day{floor<days>(local)}.year();
    const std::int64_t summer_start = local_time_of(start, year) - standard;
    const std::int64_t summer_end = local_time_of(end, year) - summer;
    const bool is_summer = summer_start < summer_end
                               ? summer_start <= moment && moment < summer_end
                               : summer_start <= moment || moment < summer_end;
    return is_summer ? summer : standard;
}

std::optional<zone_rule> parse_zone_rule(std::string_view text)
{
    rule_reader reader(text);
    zone_rule rule;
    reader.name();
    rule.standard = -reader.time();
    if (!reader.is_at_end()) {
        rule.has_summer = true;
        reader.name();
        rule.summer = reader.is_at(',') ? rule.standard + 3600 : -reader.time();
        reader.demand(',');
        rule.start = reader.change();
        reader.demand(',');
        rule.end = reader.change();
    }
    if (reader.has_failed() || !reader.is_at_end()) {
        return std::nullopt;
    }
    return rule;
}

} // namespace skein::store
