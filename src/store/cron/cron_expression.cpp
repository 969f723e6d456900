#include "store/cron/cron_expression.hpp"

#include "store/error.hpp"
#include "store/queue/error_text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace skein::store {

namespace {

constexpr std::string_view white_space = " \t\n\v\f\r";
constexpr std::string_view every_prefix = "@every";

struct cron_alias {
    std::string_view name;
    std::string_view fields;
};

constexpr std::array<cron_alias, 7> aliases{{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

std::string_view trim_front(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
    return text;
}

std::string_view trim(std::string_view text)
{
    text = trim_front(text);
    text.remove_suffix(text.size() - (text.find_last_not_of(white_space) + 1));
    return text;
}

std::vector<std::string_view> split(std::string_view text)
{
    std::vector<std::string_view> pieces;
    for (text = trim_front(text); !text.empty(); text = trim_front(text)) {
        const std::size_t end = std::min(text.find_first_of(white_space), text.size());
        pieces.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return pieces;
}

std::int64_t seconds_of(char unit)
{
    switch (unit) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return 86400;
    default:
        return 0;
    }
}

/// `text` is what follows "@every", without white space in front.
std::int64_t read_interval(std::string_view text, std::string_view all)
{
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    if (end == 0 || end + 1 != text.size() || seconds_of(text[end]) == 0) {
        throw cron_refusal{text.empty() ? all : text,
                           "after @every comes a number and one of s, m, h, d, as in \"@every "
                           "30s\""};
    }
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t count = 0;
    for (const char each : text.substr(0, end)) {
        const int digit = each - '0';
        if (count > (most - digit) / 10) {
            throw cron_refusal{text, "the interval is too long"};
        }
        count = count * 10 + digit;
    }
    if (count == 0) {
        throw cron_refusal{text, "the interval must not be 0"};
    }
    if (count > most / seconds_of(text[end])) {
        throw cron_refusal{text, "the interval is too long"};
    }
    return count * seconds_of(text[end]);
}

cron_expression read_every(std::string_view text, cron_grammar grammar)
{
    const std::string_view length = trim_front(text.substr(every_prefix.size()));
    cron_expression expression;
    expression.interval = read_interval(length, text);
    if (grammar == cron_grammar::registered && expression.interval > cron_horizon) {
        throw cron_refusal{length, "the interval is longer than 100 years"};
    }
    // Numbers alone: neither zeros in front nor another unit would change the meaning.
    expression.text = std::string(every_prefix) + " " + std::string(length);
    return expression;
}

cron_expression read_fields(std::string_view text, cron_grammar grammar)
{
    const std::vector<std::string_view> pieces = split(text);
    if (pieces.size() != 5 && pieces.size() != 6) {
        throw invalid_argument("schedule expression requires 5 or 6 cron fields, or '@every "
                               "<n><unit>'; got " +
                               std::to_string(pieces.size()));
    }
    cron_expression expression;
    std::string& normalized = expression.text;
    auto read = [&, next = std::size_t{0}](cron_unit unit) mutable {
        normalized += next == 0 ? "" : " ";
        return read_cron_field(pieces[next++], unit, grammar, normalized);
    };
    expression.second = pieces.size() == 6 ? read(cron_unit::second) : cron_field{.values = 1};
    expression.minute = read(cron_unit::minute);
    expression.hour = read(cron_unit::hour);
    expression.day = read(cron_unit::day);
    expression.month = read(cron_unit::month);
    expression.weekday = read(cron_unit::weekday);
    return expression;
}

cron_expression read_unzoned(std::string_view text, cron_grammar grammar)
{
    if (text.starts_with(every_prefix)) {
        return read_every(text, grammar);
    }
    if (grammar != cron_grammar::shared) {
        const auto* const alias = std::ranges::find(aliases, text, &cron_alias::name);
        if (alias != aliases.end()) {
            return read_fields(alias->fields, grammar);
        }
    }
    return read_fields(text, grammar);
}

cron_expression read_zoned(std::string_view text, cron_grammar grammar)
{
    const std::size_t end = std::min(text.find_first_of(white_space), text.size());
    const std::string_view zone = text.substr(0, end).substr(zone_prefix.size());
    const std::string_view rest = trim_front(text.substr(end));
    if (zone.empty()) {
        throw cron_refusal{text.substr(0, end), "CRON_TZ= lacks the name of a zone"};
    }
    if (rest.starts_with(every_prefix)) {
        throw cron_refusal{rest, "@every counts seconds, to which a zone means nothing"};
    }
    cron_expression expression = read_unzoned(rest, grammar);
    expression.zone = zone;
    expression.text = std::string(zone_prefix) + expression.zone + " " + expression.text;
    return expression;
}

std::string shown(std::string_view text)
{
    constexpr std::size_t most = 40;
    return kept_error_text(text.substr(0, most)) + (text.size() > most ? "…" : "");
}

} // namespace

cron_expression parse_cron(std::string_view text, cron_grammar grammar)
{
    if (grammar == cron_grammar::registered && text.size() > longest_cron) {
        throw invalid_argument("schedule expression has " + std::to_string(text.size()) +
                               " bytes; it may have " + std::to_string(longest_cron));
    }
    const std::string_view trimmed = trim(text);
    try {
        return grammar != cron_grammar::shared && trimmed.starts_with(zone_prefix)
                   ? read_zoned(trimmed, grammar)
                   : read_unzoned(trimmed, grammar);
    } catch (const cron_refusal& refusal) {
        throw invalid_argument("schedule expression, character " +
                               std::to_string(refusal.at.data() - text.data() + 1) + " (\"" +
                               shown(refusal.at) + "\"): " + refusal.reason);
    }
}

} // namespace skein::store
