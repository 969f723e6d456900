#include "store/queue/queue_statements.hpp"

#include "store/additions.hpp"

namespace skein::store {

namespace {

using statements = std::vector<std::string>;

void add_live(statements& all, const queue_tables& present)
{
    all.emplace_back("CREATE TABLE IF NOT EXISTS _honker_live"
                     " (id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL,"
                     " payload TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'pending',"
                     " priority INTEGER NOT NULL DEFAULT 0,"
                     " run_at INTEGER NOT NULL DEFAULT (unixepoch()), worker_id TEXT,"
                     " claim_expires_at INTEGER, attempts INTEGER NOT NULL DEFAULT 0,"
                     " max_attempts INTEGER NOT NULL DEFAULT 3,"
                     " created_at INTEGER NOT NULL DEFAULT (unixepoch()), expires_at INTEGER,"
                     " claimed_at INTEGER)");
    if (present.has_live && !present.has_claimed_at) {
        // Without a value: the claims that are under way began nobody knows when.
        all.emplace_back("ALTER TABLE _honker_live ADD COLUMN claimed_at INTEGER");
    }
}

/// The four that the format has. It allows no other on this table: each is written at every step
/// of a job.
void add_live_indexes(statements& all)
{
    all.emplace_back("CREATE INDEX IF NOT EXISTS _honker_live_ready ON _honker_live"
                     " (queue, priority DESC, run_at, id) WHERE state = 'pending'");
    all.emplace_back("CREATE INDEX IF NOT EXISTS _honker_live_scheduled ON _honker_live"
                     " (queue, run_at) WHERE state = 'scheduled'");
    all.emplace_back("CREATE INDEX IF NOT EXISTS _honker_live_processing_deadline ON _honker_live"
                     " (queue, claim_expires_at) WHERE state = 'processing'");
    all.emplace_back("CREATE INDEX IF NOT EXISTS _honker_live_expiry ON _honker_live"
                     " (queue, expires_at) WHERE expires_at IS NOT NULL");
}

void add_dead_and_results(statements& all)
{
    all.emplace_back(
        "CREATE TABLE IF NOT EXISTS _honker_dead"
        " (id INTEGER PRIMARY KEY, queue TEXT NOT NULL, payload TEXT NOT NULL,"
        " priority INTEGER NOT NULL DEFAULT 0, run_at INTEGER NOT NULL DEFAULT 0,"
        " attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL DEFAULT 0,"
        " last_error TEXT, created_at INTEGER NOT NULL DEFAULT (unixepoch()),"
        " died_at INTEGER NOT NULL DEFAULT (unixepoch()))");
    all.emplace_back("CREATE TABLE IF NOT EXISTS _honker_results"
                     " (job_id INTEGER PRIMARY KEY, value TEXT,"
                     " created_at INTEGER NOT NULL DEFAULT (unixepoch()), expires_at INTEGER)");
}

/// Jobs of the future leave the index of those that are ready, and jobs without attempts left,
/// which no claim takes, become dead letters. Leases stay as they are.
void add_scheduled_state(statements& all, const std::string& now)
{
    const std::string exhausted =
        " FROM _honker_live WHERE state IN ('pending', 'scheduled') AND attempts >= max_attempts";
    all.push_back("UPDATE _honker_live SET state = 'scheduled'"
                  " WHERE state = 'pending' AND run_at > " +
                  now);
    all.push_back("INSERT INTO _honker_dead (id, queue, payload, priority, run_at, attempts,"
                  " max_attempts, last_error, created_at, died_at)"
                  " SELECT id, queue, payload, priority, run_at, attempts, max_attempts,"
                  " 'max attempts exceeded', created_at, " +
                  now + exhausted);
    all.push_back("DELETE" + exhausted);
    all.emplace_back("DROP INDEX IF EXISTS _honker_live_claim");
    all.emplace_back("DROP INDEX IF EXISTS _honker_live_pending_deadline");
}

/// What is kept until it is pruned, in the order in which it is listed and pruned.
void add_additions(statements& all)
{
    all.emplace_back("CREATE INDEX IF NOT EXISTS _skein_dead_by_time ON _honker_dead"
                     " (queue, died_at)");
    all.emplace_back("CREATE INDEX IF NOT EXISTS _skein_results_by_time ON _honker_results"
                     " (created_at)");
    all.emplace_back("CREATE INDEX IF NOT EXISTS _skein_results_by_expiry ON _honker_results"
                     " (expires_at) WHERE expires_at IS NOT NULL");
    for (std::string& each : addition_record(queue_addition, queue_additions_version)) {
        all.push_back(std::move(each));
    }
}

} // namespace

statements completing_queue_statements(const queue_tables& present, std::string_view now)
{
    statements all;
    add_live(all, present);
    add_dead_and_results(all);
    if (present.has_older_indexes) {
        add_scheduled_state(all, std::string(now));
    }
    add_live_indexes(all);
    add_additions(all);
    return all;
}

} // namespace skein::store
