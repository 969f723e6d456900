#include "store/rate_limit/rate_limit_schema.hpp"

namespace skein::store {

table_family rate_limit_tables()
{
    return {.addition = "rate_limits",
            .version = 1,
            .format = {"_honker_rate_limits"},
            .additions = {"_skein_rate_limits_by_window", "_skein_rate_limits",
                          "_skein_rate_limits_by_arrival"},
            .statements = {"CREATE TABLE IF NOT EXISTS _honker_rate_limits"
                           " (name TEXT NOT NULL, window_start INTEGER NOT NULL,"
                           " count INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, window_start))",
                           "CREATE INDEX IF NOT EXISTS _skein_rate_limits_by_window"
                           " ON _honker_rate_limits (window_start)",
                           "CREATE TABLE IF NOT EXISTS _skein_rate_limits"
                           " (name TEXT PRIMARY KEY, arrival INTEGER NOT NULL) WITHOUT ROWID",
                           "CREATE INDEX IF NOT EXISTS _skein_rate_limits_by_arrival"
                           " ON _skein_rate_limits (arrival)"}};
}

} // namespace skein::store
