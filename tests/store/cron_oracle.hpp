#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace skein::store {

/// One field of an expression, as it is written and as what it means.
struct oracle_field {
    std::string text;
    std::set<int> values;

    [[nodiscard]] bool has(int value) const { return values.contains(value); }
    [[nodiscard]] bool is_star() const { return text.starts_with('*'); }
};

/// An expression that was made from its meaning, so that nothing has to be read.
struct oracle_expression {
    std::optional<oracle_field> second;
    oracle_field minute;
    oracle_field hour;
    oracle_field day;
    oracle_field month;
    oracle_field weekday;

    [[nodiscard]] std::string text() const;
};

[[nodiscard]] oracle_expression any_expression(std::mt19937& chance);

/// The moments after `after` up to `until`, at most so many. Tries every second (or every minute,
/// when there is no field of seconds) in the zone of the process, and remembers what its clocks
/// have shown in the hours before.
[[nodiscard]] std::vector<std::int64_t> slow_moments(const oracle_expression& expression,
                                                     bool is_either_day, std::int64_t after,
                                                     std::int64_t until, std::size_t most);

} // namespace skein::store
