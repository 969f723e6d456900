#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace package_log {

/// What standard output leads to.
struct terminal {
    bool is_terminal = false;
    bool has_colours = false; ///< a terminal, and nobody has asked for plain text
    std::size_t columns = 80;

    /// `code` is an ANSI one, such as "1" for bold and "42" for a green background.
    [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const;
};

[[nodiscard]] terminal standard_output();

} // namespace package_log
