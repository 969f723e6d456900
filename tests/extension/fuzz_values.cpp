#include "extension/fuzz_values.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace skein::fuzz {

namespace {

using namespace std::string_view_literals;

constexpr std::array names{"a"sv, "b"sv, ""sv, "A"sv, "a\0b"sv, "\xff\xfe"sv, "\xe2\x82"sv, "é"sv};

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::array numbers{std::int64_t{0},
                             std::int64_t{1},
                             std::int64_t{2},
                             std::int64_t{3},
                             std::int64_t{4},
                             std::int64_t{5},
                             std::int64_t{-1},
                             std::int64_t{60},
                             most,
                             most - 1,
                             -most,
                             -most - 1,
                             most / 2,
                             std::int64_t{1} << 31,
                             std::int64_t{1} << 53,
                             std::int64_t{64},
                             std::int64_t{1000}};

constexpr std::array reals{0.0,
                           -0.0,
                           1.0,
                           3.0,
                           2.5,
                           -1.0,
                           1e18,
                           -1e18,
                           1e19,
                           9223372036854775808.0,
                           -9223372036854775808.0,
                           1e308,
                           5e-324,
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()};

std::string cron_base(input& from)
{
    constexpr std::array words{"JAN"sv, "mon"sv, "?"sv, "L"sv, "-"sv, "99999999999999999999"sv};
    switch (from.below(8)) {
    case 0:
        return "*";
    case 1:
        return std::to_string(from.below(70)) + "-" + std::to_string(from.below(70));
    case 2:
        return std::string(from.one_of(words));
    case 3:
        return "+" + std::to_string(from.below(40));
    default:
        return std::to_string(from.below(from.one_in(3) ? 70 : 8));
    }
}

std::string cron_field(input& from)
{
    std::string field = from.one_in(2) ? "*" : cron_base(from);
    if (from.one_in(3)) {
        field += "/" + std::to_string(from.below(12));
    }
    while (from.one_in(4)) {
        field += "," + cron_base(from);
    }
    return field;
}

std::string nested(input& from)
{
    constexpr std::array depths{1, 127, 128, 129, 3000, 60000};
    const auto depth = static_cast<std::size_t>(from.one_of(depths));
    const bool is_object = from.one_in(2);
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) {
        text += is_object ? R"({"a":)" : "[";
    }
    if (is_object) {
        text += "1";
    }
    return from.one_in(4) ? text : text + std::string(depth, is_object ? '}' : ']');
}

std::string bytes(input& from)
{
    std::string text;
    for (std::size_t left = from.below(12); left > 0; --left) {
        text += static_cast<char>(from.byte());
    }
    return text;
}

std::string any_text(input& from)
{
    switch (from.below(8)) {
    case 0:
    case 1:
        return json_text(from);
    case 2:
        return cron_text(from);
    case 3:
        return bytes(from);
    case 4:
        return from.one_in(16) ? std::string(100'000, 'x') : "1";
    default:
        return std::string(from.one_of(names));
    }
}

std::int64_t any_integer(input& from)
{
    return from.one_in(16) ? static_cast<std::int64_t>(from.word()) : from.one_of(numbers);
}

/// Of all functions that take options.
std::string options_text(input& from)
{
    constexpr std::array options{"\"priority\":2"sv,
                                 "\"delay_s\":3"sv,
                                 "\"run_at\":0"sv,
                                 "\"expires_s\":1"sv,
                                 "\"max_attempts\":2"sv,
                                 "\"unique_key\":\"a\""sv,
                                 "\"unique_key\":\"b\",\"on_conflict\":\"replace_and_move\""sv,
                                 "\"unique_scope\":\"waiting_or_running\""sv,
                                 "\"unique_period_s\":5"sv,
                                 "\"concurrency_key\":\"a\""sv,
                                 "\"concurrency_key\":\"b\",\"concurrency_limit\":2"sv,
                                 "\"concurrency_limit\":-1"sv,
                                 "\"runs\":3"sv,
                                 "\"missed\":\"once\""sv,
                                 "\"overlap\":\"skip\""sv};
    std::string text;
    for (std::size_t left = from.below(4); left > 0; --left) {
        text += (text.empty() ? "" : ",") + std::string(from.one_of(options));
    }
    return "{" + text + "}";
}

std::string readable(const std::string& text)
{
    std::string hexadecimal;
    for (const char each : text.substr(0, 60)) {
        if (each >= ' ' && each <= '~') {
            hexadecimal += each;
        } else {
            hexadecimal += "\\" + std::to_string(static_cast<unsigned char>(each));
        }
    }
    return "'" + hexadecimal + (text.size() > 60 ? "'..." : "'");
}

} // namespace

std::string cron_text(input& from)
{
    constexpr std::array shorthands{"@hourly"sv,
                                    "@every 5s"sv,
                                    "@every1h"sv,
                                    "@every 0s"sv,
                                    "@every 99999999999999999999d"sv,
                                    "@every 106751991167300d"sv,
                                    "@EVERY 5s"sv,
                                    "@yearly"sv,
                                    "0 0 30 2 *"sv};
    if (from.one_in(4)) {
        return std::string(from.one_of(shorthands));
    }
    constexpr std::array zones{"CRON_TZ=Europe/Berlin "sv, "CRON_TZ=UTC "sv,
                               "CRON_TZ=../../etc/passwd "sv, "CRON_TZ= "sv};
    std::string text = from.one_in(8) ? std::string(from.one_of(zones)) : "";
    const std::size_t fields = from.one_in(6) ? from.below(9) : 5;
    for (std::size_t i = 0; i < fields; ++i) {
        text += (i == 0 ? "" : " ") + cron_field(from);
    }
    return text;
}

std::string json_text(input& from)
{
    constexpr std::array texts{"{}"sv,
                               "[]"sv,
                               "null"sv,
                               "\"go\""sv,
                               "[1,2,3]"sv,
                               "[[1,1],[2]]"sv,
                               "[[1,2,3]]"sv,
                               "[1,\"2\",3.0,true,null,{}]"sv,
                               "{\"a\":1}"sv,
                               "[9223372036854775808]"sv,
                               "[1e3]"sv,
                               "1e999"sv,
                               "\"\\ud800\""sv,
                               "{"sv,
                               ""sv,
                               "[1,]"sv,
                               "nul"sv,
                               "\"\xff\""sv,
                               "{\"a\":1,\"a\":2}"sv,
                               " 1 "sv,
                               "1 2"sv,
                               "'1'"sv,
                               "[[1,-9223372036854775808]]"sv};
    return from.one_in(10) ? nested(from) : std::string(from.one_of(texts));
}

std::string bind_any(sqlite3_stmt* statement, int position, input& from)
{
    const std::size_t kind = from.below(16);
    if (kind < 6) {
        const std::int64_t number = any_integer(from);
        sqlite3_bind_int64(statement, position, number);
        return std::to_string(number);
    }
    if (kind < 12) {
        const std::string text = any_text(from);
        sqlite3_bind_text(statement, position, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT);
        return readable(text);
    }
    if (kind == 12) {
        const double number = from.one_of(reals);
        sqlite3_bind_double(statement, position, number);
        return "real " + std::to_string(number);
    }
    if (kind == 13) {
        const std::string blob = bytes(from);
        sqlite3_bind_blob(statement, position, blob.data(), static_cast<int>(blob.size()),
                          SQLITE_TRANSIENT);
        return "x" + readable(blob);
    }
    sqlite3_bind_null(statement, position);
    return "NULL";
}

std::string bind_likely(sqlite3_stmt* statement, int position, const accepted& what, input& from)
{
    if (what.type.empty() || from.one_in(24)) {
        return bind_any(statement, position, from);
    }
    if (what.type == "INTEGER") {
        const std::int64_t number =
            from.one_in(4) ? any_integer(from) : static_cast<std::int64_t>(from.below(6));
        sqlite3_bind_int64(statement, position, number);
        return std::to_string(number);
    }
    const bool is_json = what.name == "payload" || what.name == "value" || what.name == "ids_json";
    const std::string text = is_json                    ? json_text(from)
                             : what.name == "options"   ? options_text(from)
                             : what.name == "cron_expr" ? cron_text(from)
                             : from.one_in(16)          ? any_text(from)
                                                        : std::string(1, from.one_of("ab"sv));
    sqlite3_bind_text(statement, position, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return readable(text);
}

} // namespace skein::fuzz
