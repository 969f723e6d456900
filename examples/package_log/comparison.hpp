#pragma once

#include "ledger.hpp"
#include "log_file.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace package_log {

/// How the packages' states that the workers have left compare with another account of them.
struct comparison {
    std::string with;                     ///< what they were compared with
    std::size_t packages = 0;             ///< how many were compared
    std::vector<std::string> differences; ///< one sentence each
    std::string remark;                   ///< why they were not compared with dpkg-query
};

/// With the log itself, read from its beginning to its end. Always possible; it shows what the
/// queue has done to the order.
[[nodiscard]] comparison compare_with_log(const log_file& log,
                                          const ledger::package_states& states);

/// With dpkg's own database, for the packages that the log tells of: a log begins anew every month.
[[nodiscard]] comparison compare_with_dpkg(const log_file& log,
                                           const ledger::package_states& states,
                                           const ledger::package_states& installed);

} // namespace package_log
