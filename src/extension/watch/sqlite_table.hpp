#pragma once

struct sqlite3_api_routines;

namespace skein::extension {

/// Takes the SQLite that loads the extension for the one to call, for as long as the process lives.
/// Returns whether it is: where another SQLite has come before, its connections would be handed to
/// the wrong library. Thread-safety: safe from any thread.
[[nodiscard]] bool adopt_sqlite(const sqlite3_api_routines* routines) noexcept;

/// Whether there is a SQLite to call.
[[nodiscard]] bool has_sqlite() noexcept;

} // namespace skein::extension
