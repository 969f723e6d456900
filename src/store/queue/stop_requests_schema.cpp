#include "store/queue/stop_requests_schema.hpp"

namespace skein::store {

table_family stop_request_tables()
{
    return {.addition = "stop_requests",
            .version = 1,
            .format = {"_skein_stop_requests"},
            .additions = {"_skein_forget_stop_request"},
            .statements = {"CREATE TABLE IF NOT EXISTS _skein_stop_requests"
                           " (id INTEGER PRIMARY KEY, attempts INTEGER NOT NULL)",
                           "CREATE TRIGGER IF NOT EXISTS _skein_forget_stop_request AFTER DELETE"
                           " ON _honker_live BEGIN DELETE FROM _skein_stop_requests"
                           " WHERE id = OLD.id; END"}};
}

} // namespace skein::store
