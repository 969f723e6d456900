#pragma once

// The one place that names SQLite's header, so that the same sources can be built against the
// library or, in a loadable extension, against the host's function table: the names of SQLite's
// functions are macros there, and a second copy of the library never sees the host's connection.
#ifdef SKEIN_LOADABLE
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif
