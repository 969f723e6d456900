// What a program finds that loads the extension.

#include "extension/at_close.hpp"
#include "extension/function.hpp"
#include "extension/host.hpp"
#include "extension/tables.hpp"
#include "extension/watch/sqlite_table.hpp"

#include <memory>
#include <string>

#define SKEIN_ENTRY_POINT extern "C" __attribute__((visibility("default")))

namespace skein::extension {

namespace {

/// The oldest SQLite that all statements have been tried with.
constexpr int oldest_sqlite = 3040000;

/// What the table of a SQLite that is refused has is called through that table.
void adopt(const sqlite3_api_routines& routines)
{
    if (routines.libversion_number() < oldest_sqlite) {
        throw std::runtime_error(std::string("skein needs SQLite 3.40 or newer, this is ") +
                                 routines.libversion());
    }
    if (!adopt_sqlite(&routines)) {
        throw std::runtime_error("skein serves another SQLite of this process already");
    }
}

void load_into(sqlite3* handle)
{
    const auto where = std::make_shared<host>(handle);
    make_notification_tables(*where);
    release_at_close(where);
    for (const auto& of_a_subject :
         {table_functions, job_functions, job_end_functions, job_key_functions,
          job_control_functions, dead_letter_functions, result_functions, notification_functions,
          stream_functions, lock_functions, rate_limit_functions, schedule_functions,
          schedule_option_functions, watcher_functions}) {
        define(where, of_a_subject());
    }
}

int load(sqlite3* handle, char** error, const sqlite3_api_routines* routines) noexcept
{
    try {
        adopt(*routines);
        load_into(handle);
        return SQLITE_OK_LOAD_PERMANENTLY;
    } catch (const std::exception& failure) {
        *error = routines->mprintf("%s", failure.what());
        return SQLITE_ERROR;
    }
}

} // namespace

} // namespace skein::extension

SKEIN_ENTRY_POINT int sqlite3_skein_init(sqlite3* handle, char** error,
                                         const sqlite3_api_routines* routines)
{
    return skein::extension::load(handle, error, routines);
}

/// The name that SQLite derives from a file called `libhonker_ext`.
SKEIN_ENTRY_POINT int sqlite3_honkerext_init(sqlite3* handle, char** error,
                                             const sqlite3_api_routines* routines)
{
    return skein::extension::load(handle, error, routines);
}
