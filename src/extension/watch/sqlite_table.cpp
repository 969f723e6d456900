#include "extension/watch/sqlite_table.hpp"

#include "sqlite/api.hpp"

#include <atomic>

SQLITE_EXTENSION_INIT1

namespace skein::extension {

// Every call of SQLite reads the table, also those of threads that run while another connection
// loads the extension: it is written once.
bool adopt_sqlite(const sqlite3_api_routines* routines) noexcept
{
    const std::atomic_ref table(sqlite3_api);
    const sqlite3_api_routines* present = table.load();
    return present == routines ||
           (present == nullptr &&
            (table.compare_exchange_strong(present, routines) || present == routines));
}

bool has_sqlite() noexcept
{
    return std::atomic_ref(sqlite3_api).load() != nullptr;
}

} // namespace skein::extension
