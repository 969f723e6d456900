#include "store/older_queue_program.hpp"

#include <string>

namespace skein::store {

void create_queue_format(const support::plain_connection& file, queue_format format)
{
    file.sql(
        "PRAGMA journal_mode = wal; CREATE TABLE IF NOT EXISTS _honker_live"
        " (id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, payload TEXT NOT NULL,"
        " state TEXT NOT NULL DEFAULT 'pending', priority INTEGER NOT NULL DEFAULT 0,"
        " run_at INTEGER NOT NULL DEFAULT (unixepoch()), worker_id TEXT,"
        " claim_expires_at INTEGER, attempts INTEGER NOT NULL DEFAULT 0,"
        " max_attempts INTEGER NOT NULL DEFAULT 3,"
        " created_at INTEGER NOT NULL DEFAULT (unixepoch()), expires_at INTEGER" +
        std::string(format == queue_format::without_claimed_at ? ")" : ", claimed_at INTEGER)"));
    file.sql("CREATE TABLE IF NOT EXISTS _honker_dead (id INTEGER PRIMARY KEY, queue TEXT NOT NULL,"
             " payload TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 0,"
             " run_at INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,"
             " max_attempts INTEGER NOT NULL DEFAULT 0, last_error TEXT,"
             " created_at INTEGER NOT NULL DEFAULT (unixepoch()),"
             " died_at INTEGER NOT NULL DEFAULT (unixepoch()));"
             "CREATE TABLE IF NOT EXISTS _honker_results (job_id INTEGER PRIMARY KEY, value TEXT,"
             " created_at INTEGER NOT NULL DEFAULT (unixepoch()), expires_at INTEGER);"
             "CREATE INDEX IF NOT EXISTS _honker_live_processing_deadline ON _honker_live"
             " (queue, claim_expires_at) WHERE state = 'processing'");
    if (format == queue_format::newest) {
        file.sql("CREATE INDEX IF NOT EXISTS _honker_live_ready ON _honker_live"
                 " (queue, priority DESC, run_at, id) WHERE state = 'pending';"
                 "CREATE INDEX IF NOT EXISTS _honker_live_scheduled ON _honker_live"
                 " (queue, run_at) WHERE state = 'scheduled';"
                 "CREATE INDEX IF NOT EXISTS _honker_live_expiry ON _honker_live"
                 " (queue, expires_at) WHERE expires_at IS NOT NULL");
    } else {
        file.sql("CREATE INDEX IF NOT EXISTS _honker_live_claim ON _honker_live"
                 " (queue, priority DESC, run_at, id) WHERE state IN ('pending', 'processing');"
                 "CREATE INDEX IF NOT EXISTS _honker_live_pending_deadline ON _honker_live"
                 " (queue, run_at) WHERE state = 'pending'");
    }
}

} // namespace skein::store
