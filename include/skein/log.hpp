#pragma once

#include <functional>
#include <string_view>

namespace skein {

enum class log_level {
    info,    ///< a database was opened or closed
    warning, ///< something to look into; skein goes on
};

/// Receives what skein has to say, in whole sentences without a newline. Payloads and other values
/// of the user's never appear in it, but for the names and expressions of schedules that cannot be
/// served.
///
/// Called on the thread that opens the database, and then on its strand until it is closed, one
/// call at a time. It should return quickly and must not throw.
using log_function = std::function<void(log_level, std::string_view)>;

} // namespace skein
