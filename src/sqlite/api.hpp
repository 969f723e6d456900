#pragma once

// The one place that names SQLite's header, so that the same sources can be built against the
// library or, in a loadable extension, against the host's function table.
#include <sqlite3.h>
