#pragma once

#include "ledger.hpp"

#include <optional>

namespace package_log {

/// What dpkg-query says of all packages now; nothing where there is no dpkg-query.
///
/// Throws: when it fails.
[[nodiscard]] std::optional<ledger::package_states> ask_dpkg();

} // namespace package_log
