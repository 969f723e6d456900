#include "store/cron_oracle.hpp"

#include <algorithm>
#include <ctime>

namespace skein::store {

namespace {

int pick(std::mt19937& chance, int lowest, int highest)
{
    return std::uniform_int_distribution<int>(lowest, highest)(chance);
}

struct limits {
    int lowest;
    int highest;
};

void add_part(oracle_field& field, std::mt19937& chance, limits within)
{
    const int first = pick(chance, within.lowest, within.highest);
    const int last = pick(chance, first, within.highest);
    const int step = pick(chance, 1, std::max(2, (within.highest - within.lowest) / 2));
    field.text += field.text.empty() ? "" : ",";
    switch (pick(chance, 0, 3)) {
    case 0:
        field.text += std::to_string(first) + "-" + std::to_string(last);
        for (int value = first; value <= last; ++value) {
            field.values.insert(value);
        }
        return;
    case 1:
        field.text +=
            std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(step);
        for (int value = first; value <= last; value += step) {
            field.values.insert(value);
        }
        return;
    case 2:
        field.text += "*/" + std::to_string(step);
        for (int value = within.lowest; value <= within.highest; value += step) {
            field.values.insert(value);
        }
        return;
    default:
        field.text += std::to_string(first);
        field.values.insert(first);
    }
}

oracle_field any_field(std::mt19937& chance, limits within, int stars_of_ten)
{
    oracle_field field;
    if (pick(chance, 0, 9) < stars_of_ten) {
        field.text = "*";
        for (int value = within.lowest; value <= within.highest; ++value) {
            field.values.insert(value);
        }
        return field;
    }
    for (int parts = pick(chance, 1, 3); parts > 0; --parts) {
        add_part(field, chance, within);
    }
    return field;
}

/// Those in which clocks change.
oracle_field early_hours(std::mt19937& chance)
{
    const int first = pick(chance, 0, 3);
    oracle_field field;
    field.text = std::to_string(first) + "-3";
    for (int hour = first; hour <= 3; ++hour) {
        field.values.insert(hour);
    }
    return field;
}

bool fits_day(const oracle_expression& expression, bool is_either_day, const std::tm& shown)
{
    const bool day = expression.day.has(shown.tm_mday);
    const bool weekday = expression.weekday.has(shown.tm_wday);
    const bool restricts_both = !expression.day.is_star() && !expression.weekday.is_star();
    return expression.month.has(shown.tm_mon + 1) &&
           (is_either_day && restricts_both ? day || weekday : day && weekday);
}

bool fits(const oracle_expression& expression, bool is_either_day, const std::tm& shown)
{
    const int second = shown.tm_sec;
    return (expression.second ? expression.second->has(second) : second == 0) &&
           expression.minute.has(shown.tm_min) && expression.hour.has(shown.tm_hour) &&
           fits_day(expression, is_either_day, shown);
}

std::tm clocks_at(std::int64_t moment)
{
    const std::time_t time = moment;
    std::tm shown{};
    localtime_r(&time, &shown);
    return shown;
}

/// Whether one of the local times that were skipped fits.
bool skips_one(const oracle_expression& expression, bool is_either_day, std::int64_t shown_last,
               std::int64_t shown, std::int64_t step)
{
    for (std::int64_t skipped = shown_last + step; skipped < shown; skipped += step) {
        const std::time_t time = skipped;
        std::tm fields{};
        gmtime_r(&time, &fields);
        if (fits(expression, is_either_day, fields)) {
            return true;
        }
    }
    return false;
}

} // namespace

std::string oracle_expression::text() const
{
    return (second ? second->text + " " : "") + minute.text + " " + hour.text + " " + day.text +
           " " + month.text + " " + weekday.text;
}

oracle_expression any_expression(std::mt19937& chance)
{
    oracle_expression expression;
    if (pick(chance, 0, 3) == 0) {
        expression.second = any_field(chance, {0, 59}, 2);
    }
    expression.minute = any_field(chance, {0, 59}, 2);
    expression.hour = pick(chance, 0, 1) == 0 ? early_hours(chance) : any_field(chance, {0, 23}, 3);
    expression.day = any_field(chance, {1, 31}, 6);
    expression.month = any_field(chance, {1, 12}, 7);
    expression.weekday = any_field(chance, {0, 6}, 6);
    return expression;
}

std::vector<std::int64_t> slow_moments(const oracle_expression& expression, bool is_either_day,
                                       std::int64_t after, std::int64_t until, std::size_t most)
{
    const std::int64_t step = expression.second ? 1 : 60;
    const bool follows_real_time = expression.hour.is_star();
    std::int64_t moment = (after - 3 * 3600) / step * step;
    std::int64_t shown_last = moment + clocks_at(moment).tm_gmtoff;
    std::int64_t latest_shown = shown_last;
    std::vector<std::int64_t> all;
    for (moment += step; moment <= until && all.size() < most; moment += step) {
        const std::tm fields = clocks_at(moment);
        const std::int64_t shown = moment + fields.tm_gmtoff;
        bool fires = fits(expression, is_either_day, fields);
        if (!follows_real_time) {
            fires = (fires && shown > latest_shown) ||
                    skips_one(expression, is_either_day, shown_last, shown, step);
        }
        shown_last = shown;
        latest_shown = std::max(latest_shown, shown);
        if (fires && moment > after) {
            all.push_back(moment);
        }
    }
    return all;
}

} // namespace skein::store
