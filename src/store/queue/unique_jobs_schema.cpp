#include "store/queue/unique_jobs_schema.hpp"

namespace skein::store {

table_family unique_job_tables()
{
    return {.addition = "unique_jobs",
            .version = 1,
            .format = {"_skein_unique_jobs"},
            .additions = {"_skein_unique_jobs_by_id", "_skein_unique_jobs_by_end",
                          "_skein_forget_unique_job"},
            .statements = {"CREATE TABLE IF NOT EXISTS _skein_unique_jobs (queue TEXT NOT NULL,"
                           " key TEXT NOT NULL, id INTEGER NOT NULL, while_running INTEGER"
                           " NOT NULL, ends_at INTEGER, PRIMARY KEY (queue, key)) WITHOUT ROWID",
                           "CREATE INDEX IF NOT EXISTS _skein_unique_jobs_by_id"
                           " ON _skein_unique_jobs (id)",
                           "CREATE INDEX IF NOT EXISTS _skein_unique_jobs_by_end"
                           " ON _skein_unique_jobs (ends_at) WHERE ends_at IS NOT NULL",
                           "CREATE TRIGGER IF NOT EXISTS _skein_forget_unique_job"
                           " AFTER DELETE ON _honker_live BEGIN DELETE FROM _skein_unique_jobs"
                           " WHERE id = OLD.id AND ends_at IS NULL; END"}};
}

} // namespace skein::store
