#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skein::store {

/// Who may have written an expression.
enum class cron_grammar {
    shared,     ///< any program, into the shared table: numbers alone
    extended,   ///< that, and names, 7 for Sunday, aliases and a zone
    registered, ///< the same, but nothing that means something else to another cron
};

/// The values that a field of an expression allows.
struct cron_field {
    std::uint64_t values = 0;      ///< the bit of each
    bool starts_with_star = false; ///< to cron, such a field restricts nothing

    [[nodiscard]] bool has(unsigned value) const noexcept { return (values >> value & 1) != 0; }
    bool operator==(const cron_field&) const = default;
};

/// The fields of an expression, in the order in which they are written.
enum class cron_unit { second, minute, hour, day, month, weekday };

/// Why a piece of an expression is refused.
struct cron_refusal {
    std::string_view at; ///< the piece
    std::string reason;
};

/// Reads one field, which holds no white space, and appends it to `normalized` in the shared
/// grammar. Throws `cron_refusal`.
[[nodiscard]] cron_field read_cron_field(std::string_view text, cron_unit unit,
                                         cron_grammar grammar, std::string& normalized);

} // namespace skein::store
