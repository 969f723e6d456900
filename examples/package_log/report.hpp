#pragma once

#include "comparison.hpp"
#include "demo.hpp"
#include "terminal.hpp"

#include <cstddef>

namespace package_log {

/// Prints what was measured, and the differences to standard error.
///
/// Returns: whether everything is as it must be.
[[nodiscard]] bool report(const terminal& output, std::size_t expected, const outcome& measured,
                          const comparison& states);

} // namespace package_log
