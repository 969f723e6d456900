#include "store/cron/cron_field.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>

namespace skein::store {

namespace {

constexpr std::array<std::string_view, 12> month_names{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekday_names{"SUN", "MON", "TUE", "WED",
                                                        "THU", "FRI", "SAT"};
constexpr unsigned days_of_week = 7;

struct unit_range {
    std::string_view name;
    unsigned lowest;
    unsigned highest;
    std::span<const std::string_view> names = {};
};

const unit_range& range_of(cron_unit unit)
{
    static constexpr std::array<unit_range, 6> ranges{{{"second", 0, 59},
                                                       {"minute", 0, 59},
                                                       {"hour", 0, 23},
                                                       {"day of the month", 1, 31},
                                                       {"month", 1, 12, month_names},
                                                       {"day of the week", 0, 6, weekday_names}}};
    return ranges[static_cast<std::size_t>(unit)];
}

std::optional<unsigned> read_number(std::string_view text)
{
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    const bool is_number =
        !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number) {
        return std::nullopt;
    }
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
    if (text.size() > 9) {
        return 1'000'000'000; // more than any field takes
    }
    unsigned number = 0;
    for (const char each : text) {
        number = number * 10 + static_cast<unsigned>(each - '0');
    }
    return number;
}

bool same_name(std::string_view text, std::string_view name)
{
    return std::ranges::equal(text, name, [](char a, char b) {
        return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
    });
}

/// `first`, `first + step`, … up to `last`.
struct cron_part {
    unsigned first = 0;
    unsigned last = 0;
    unsigned step = 1;
    bool is_star = false;
    bool is_range = false;
};

class field_reader {
public:
    field_reader(cron_unit unit, cron_grammar grammar)
        : range_(range_of(unit)), is_weekday_(unit == cron_unit::weekday), grammar_(grammar)
    {
    }

    [[nodiscard]] cron_part read(std::string_view text) const
    {
        const std::size_t slash = text.find('/');
        cron_part part = read_base(text.substr(0, slash), text);
        if (slash != std::string_view::npos) {
            part.step = read_step(text.substr(slash + 1), text);
            if (!part.is_star && !part.is_range) {
                refuse_lone_step(part, text);
            }
        }
        return part;
    }

    [[nodiscard]] std::string print(const cron_part& part) const
    {
        if (is_weekday_ && part.last == days_of_week) {
            return print_values(part);
        }
        std::string text = part.is_star ? "*" : std::to_string(part.first);
        if (part.is_range) {
            text += '-' + std::to_string(part.last);
        }
        if (part.step != 1 && (part.is_star || part.is_range)) {
            text += '/' + std::to_string(part.step);
        }
        return text;
    }

private:
    cron_part read_base(std::string_view base, std::string_view part) const
    {
        if (base == "*") {
            return {.first = range_.lowest, .last = range_.highest, .is_star = true};
        }
        const std::size_t dash = base.find('-');
        const unsigned first = read_value(base.substr(0, dash), part);
        if (dash == std::string_view::npos) {
            return {.first = first, .last = first};
        }
        unsigned last = read_value(base.substr(dash + 1), part);
        // The week may end with Sunday by its name as well as by the number 7.
        if (is_weekday_ && last == 0 && first > 0 && !read_number(base.substr(dash + 1))) {
            last = days_of_week;
        }
        if (first > last) {
            throw cron_refusal{part,
                               "the range \"" + std::string(base) + "\" ends before it begins"};
        }
        return {.first = first, .last = last, .is_range = true};
    }

    unsigned read_value(std::string_view text, std::string_view part) const
    {
        if (text.empty()) {
            throw cron_refusal{part, "a number is missing"};
        }
        if (grammar_ != cron_grammar::shared) {
            for (std::size_t place = 0; place < range_.names.size(); ++place) {
                if (same_name(text, range_.names[place])) {
                    return range_.lowest + static_cast<unsigned>(place);
                }
            }
        }
        const std::optional<unsigned> number = read_number(text);
        if (!number) {
            throw cron_refusal{text, "not a number" + names_hint()};
        }
        if (*number < range_.lowest || *number > highest()) {
            throw cron_refusal{text, "not within " + limits()};
        }
        return *number;
    }

    unsigned read_step(std::string_view text, std::string_view part) const
    {
        const std::optional<unsigned> step = read_number(text);
        if (!step) {
            throw cron_refusal{text.empty() ? part : text, "the step is not a number"};
        }
        if (*step == 0) {
            throw cron_refusal{text, "the step must not be 0"};
        }
        return *step;
    }

    void refuse_lone_step(const cron_part& part, std::string_view text) const
    {
        if (grammar_ != cron_grammar::registered) {
            return;
        }
        const std::string first = std::to_string(part.first);
        throw cron_refusal{text, "to some programs this means \"" + first + "\" alone; write \"" +
                                     first + "-" + std::to_string(range_.highest) + "/" +
                                     std::to_string(part.step) + "\", or \"" + first + "\""};
    }

    /// Sunday by its other number cannot be the end of a range for everybody.
    static std::string print_values(const cron_part& part)
    {
        std::string text;
        for (unsigned value = part.first; value <= part.last; value += part.step) {
            if (!text.empty()) {
                text += ',';
            }
            text += std::to_string(value % days_of_week);
        }
        return text;
    }

    [[nodiscard]] unsigned highest() const
    {
        return is_weekday_ && grammar_ != cron_grammar::shared ? days_of_week : range_.highest;
    }

    [[nodiscard]] std::string limits() const
    {
        return std::to_string(range_.lowest) + "-" + std::to_string(highest());
    }

    [[nodiscard]] std::string names_hint() const
    {
        if (range_.names.empty() || grammar_ == cron_grammar::shared) {
            return "";
        }
        return ", nor a name from " + std::string(range_.names.front()) + " to " +
               std::string(range_.names.back());
    }

    const unit_range& range_;
    bool is_weekday_;
    cron_grammar grammar_;
};

std::uint64_t values_of(const cron_part& part, cron_unit unit)
{
    std::uint64_t values = 0;
    for (unsigned value = part.first; value <= part.last; value += part.step) {
        values |= std::uint64_t{1} << (unit == cron_unit::weekday ? value % days_of_week : value);
    }
    return values;
}

} // namespace

cron_field read_cron_field(std::string_view text, cron_unit unit, cron_grammar grammar,
                           std::string& normalized)
{
    const field_reader reader(unit, grammar);
    cron_field field{.starts_with_star = text.starts_with('*')};
    try {
        for (std::string_view rest = text;;) {
            const std::size_t comma = rest.find(',');
            const std::string_view piece = rest.substr(0, comma);
            if (piece.empty()) {
                throw cron_refusal{text, "a part of the list is empty"};
            }
            const cron_part part = reader.read(piece);
            field.values |= values_of(part, unit);
            normalized += reader.print(part);
            if (comma == std::string_view::npos) {
                return field;
            }
            normalized += ',';
            rest.remove_prefix(comma + 1);
        }
    } catch (cron_refusal& refusal) {
        refusal.reason = std::string(range_of(unit).name) + ": " + refusal.reason;
        throw;
    }
}

} // namespace skein::store
