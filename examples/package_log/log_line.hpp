#pragma once

#include "log_file.hpp"

#include <string_view>

namespace package_log {

enum class line_kind { package, other, malformed };

struct parsed_line {
    line_kind kind = line_kind::malformed;
    log_entry entry; ///< of a package's line; its number is not known here
};

/// One line of dpkg's log, with or without a carriage return at its end:
///
///     DATE TIME status STATE PACKAGE VERSION
///     DATE TIME ACTION PACKAGE INSTALLED-VERSION AVAILABLE-VERSION
///     DATE TIME startup TYPE COMMAND
///     DATE TIME conffile NAME DECISION
[[nodiscard]] parsed_line parse_line(std::string_view text);

} // namespace package_log
