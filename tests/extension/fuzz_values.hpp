#pragma once

#include "extension/fuzz_input.hpp"

#include <sqlite3.h>

#include <string>

namespace skein::fuzz {

/// A text that looks like a cron expression, and often is one.
[[nodiscard]] std::string cron_text(input& from);

/// A text that looks like JSON, and often is.
[[nodiscard]] std::string json_text(input& from);

/// Binds an argument of any type. Returns it as a literal, for messages.
std::string bind_any(sqlite3_stmt* statement, int position, input& from);

/// What a function has said that it accepts.
struct accepted {
    std::string type; ///< "TEXT" or "INTEGER"; empty: it has not said
    std::string name; ///< of the parameter
};

/// The same, mostly of a type and of a kind that is accepted.
std::string bind_likely(sqlite3_stmt* statement, int position, const accepted& what, input& from);

} // namespace skein::fuzz
