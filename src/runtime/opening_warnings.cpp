#include "runtime/opening_warnings.hpp"

#include "runtime/network_file_system.hpp"
#include "runtime/opening.hpp"
#include "sqlite/file_identity.hpp"
#include "sqlite/wal_reset_bug.hpp"

namespace skein::runtime {

std::vector<std::string> opening_warnings(sqlite::connection connection,
                                          const database_options& options)
{
    std::vector<std::string> warnings;
    if (const auto network = network_file_system_of(sqlite::database_file(connection))) {
        warnings.push_back(
            "the file lies on a network file system (" + std::string(*network) +
            "), where SQLite's locks and its write-ahead log cannot be relied on: commits may be "
            "lost and the file corrupted; keep it on a disk of this machine");
    }
    // The library that was loaded counts, not the header that skein was compiled with.
    if (options.warn_of_wal_reset_bug && sqlite::has_wal_reset_bug(sqlite3_libversion_number()) &&
        journal_of(connection) == "wal") {
        warnings.push_back("SQLite " + std::string(sqlite3_libversion()) +
                           " has the WAL-reset bug, which can lose commits when several "
                           "connections write to one file: upgrade to 3.51.3, 3.50.7 or 3.44.6, or "
                           "set warn_of_wal_reset_bug to false if this build has been repaired");
    }
    return warnings;
}

} // namespace skein::runtime
