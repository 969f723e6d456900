#include "store/queue/held_jobs_schema.hpp"

namespace skein::store {

namespace {

using text = std::string;

text is_paused(const text& queue)
{
    return "EXISTS (SELECT 1 FROM _skein_paused_queues WHERE queue = " + queue + ")";
}

/// A key of a queue, as expressions of SQL.
struct key_terms {
    text queue;
    text key;

    [[nodiscard]] text is_same() const { return "queue = " + queue + " AND key = " + key; }
    [[nodiscard]] text most() const
    {
        return "(SELECT most FROM _skein_job_limits WHERE " + is_same() + ")";
    }
    [[nodiscard]] text taken() const
    {
        return "(SELECT count(*) FROM _skein_limited_jobs WHERE " + is_same() + " AND place = 1)";
    }
    /// Those that are held, the first in the order of claims first.
    [[nodiscard]] text blocked() const
    {
        return "SELECT id, priority, run_at FROM _skein_limited_jobs WHERE " + is_same() +
               " AND place = 2 ORDER BY priority DESC, run_at, id";
    }
    /// The numbers of those that wait with a place, the last in that order first.
    [[nodiscard]] text last_placed() const
    {
        return "SELECT placed.id FROM _skein_limited_jobs AS placed JOIN _honker_live AS live"
               " ON live.id = placed.id WHERE placed.queue = " +
               queue + " AND placed.key = " + key +
               " AND placed.place = 1 AND live.state <> 'processing'"
               " ORDER BY placed.priority, placed.run_at DESC, placed.id DESC";
    }
};

text trigger(const text& name, const text& event, const text& condition, const text& body)
{
    return "CREATE TRIGGER IF NOT EXISTS " + name + " " + event +
           (condition.empty() ? "" : " WHEN " + condition) + " BEGIN " + body + " END";
}

/// Gives a place to the first of those that are blocked and of the candidate, if one is free.
text give_place(const key_terms& key, const text& candidate)
{
    return "UPDATE _skein_limited_jobs SET place = 1 WHERE id = (SELECT id FROM (SELECT * FROM (" +
           key.blocked() +
           " LIMIT 1) UNION ALL SELECT id, priority, run_at FROM _skein_limited_jobs WHERE id = " +
           candidate + " AND place = 3) ORDER BY priority DESC, run_at, id LIMIT 1) AND " +
           key.taken() + " < " + key.most() + "; ";
}

/// Where the key is full, a candidate takes the place of one that waits and comes after it.
text take_place(const key_terms& key, const text& candidate)
{
    return "UPDATE _skein_limited_jobs SET place = 2 WHERE id = (" + key.last_placed() +
           " LIMIT 1) AND " + key.taken() + " >= " + key.most() +
           " AND EXISTS (SELECT 1 FROM _skein_limited_jobs AS candidate WHERE candidate.id = " +
           candidate +
           " AND candidate.place = 3 AND (-candidate.priority, candidate.run_at, candidate.id)"
           " < (-_skein_limited_jobs.priority, _skein_limited_jobs.run_at,"
           " _skein_limited_jobs.id)); ";
}

/// Decides about a candidate, and about a place that it may have left.
text settle(const key_terms& key, const text& candidate)
{
    return take_place(key, candidate) + give_place(key, candidate) +
           "UPDATE _skein_limited_jobs SET place = 2 WHERE id = " + candidate + " AND place = 3;";
}

const text hold =
    "UPDATE _honker_live SET state = 'scheduled', run_at = " + std::to_string(held_until) +
    " WHERE id = NEW.id; ";

/// The next two jobs that a pause holds: what began to resume a queue may have been killed.
const text next_paused = "(SELECT id FROM _skein_paused_jobs WHERE queue = ";
const text of_those = " ORDER BY run_at, id LIMIT 2)";

std::vector<text> tables()
{
    return {text("CREATE TABLE IF NOT EXISTS _skein_paused_queues") +
                " (queue TEXT PRIMARY KEY) WITHOUT ROWID",
            "CREATE TABLE IF NOT EXISTS _skein_paused_jobs (id INTEGER PRIMARY KEY,"
            " queue TEXT NOT NULL, state TEXT NOT NULL, run_at INTEGER NOT NULL)",
            "CREATE INDEX IF NOT EXISTS _skein_paused_jobs_in_order ON _skein_paused_jobs"
            " (queue, run_at)",
            "CREATE TABLE IF NOT EXISTS _skein_job_limits (queue TEXT NOT NULL, key TEXT NOT NULL,"
            " most INTEGER NOT NULL, PRIMARY KEY (queue, key)) WITHOUT ROWID",
            "CREATE TABLE IF NOT EXISTS _skein_limited_jobs (id INTEGER PRIMARY KEY,"
            " queue TEXT NOT NULL, key TEXT NOT NULL, place INTEGER NOT NULL,"
            " priority INTEGER NOT NULL, run_at INTEGER NOT NULL)",
            "CREATE INDEX IF NOT EXISTS _skein_limited_jobs_in_order ON _skein_limited_jobs"
            " (queue, key, place, priority DESC, run_at)",
            "CREATE TABLE IF NOT EXISTS _skein_limited_letters (id INTEGER PRIMARY KEY,"
            " key TEXT NOT NULL, most INTEGER NOT NULL)"};
}

/// What a row in `_skein_paused_jobs` means, and who gets one.
std::vector<text> pause_triggers()
{
    return {
        trigger("_skein_pause_job", "AFTER INSERT ON _skein_paused_jobs", "", hold),
        trigger("_skein_resume_job", "AFTER DELETE ON _skein_paused_jobs",
                "NOT EXISTS (SELECT 1 FROM _skein_limited_jobs WHERE id = OLD.id AND place = 2)",
                "UPDATE _honker_live SET state = OLD.state, run_at = OLD.run_at WHERE id = OLD.id"
                " AND " +
                    is_held() + ";"),
        trigger("_skein_pause_new_job", "AFTER INSERT ON _honker_live",
                "NEW.state IN ('pending', 'scheduled') AND " + is_paused("NEW.queue"),
                "INSERT INTO _skein_paused_jobs (id, queue, state, run_at)"
                " VALUES (NEW.id, NEW.queue, NEW.state, NEW.run_at);"),
        // A job that is not held yet, or whose lease has lapsed: it is as if it were given back.
        trigger("_skein_refuse_claim", "BEFORE UPDATE OF state ON _honker_live",
                "NEW.state = 'processing' AND " + is_paused("NEW.queue"),
                "UPDATE _honker_live SET state = 'pending', worker_id = NULL,"
                " claim_expires_at = NULL, claimed_at = NULL WHERE id = OLD.id;"
                " SELECT RAISE(IGNORE);"),
        trigger("_skein_resume_more_jobs", "AFTER UPDATE OF state ON _honker_live",
                "NEW.state = 'processing' AND EXISTS " + next_paused + "NEW.queue)",
                "DELETE FROM _skein_paused_jobs WHERE id IN " + next_paused + "NEW.queue" +
                    of_those + ";")};
}

/// What has been written to a job that waits, be it new there or changed, decides about it anew.
/// Jobs that are held or given back by these triggers themselves are left out.
text waiting_trigger()
{
    const text limited = "_skein_limited_jobs WHERE id = NEW.id";
    const text held = is_held("NEW.");
    const key_terms key{"NEW.queue", "(SELECT key FROM " + limited + ")"};
    return trigger("_skein_hold_waiting_job",
                   "AFTER UPDATE OF state, run_at, priority ON _honker_live",
                   "NEW.state <> 'processing' AND (NOT " + held +
                       " OR NEW.priority <> OLD.priority) AND (" + is_paused("NEW.queue") +
                       " OR EXISTS (SELECT 1 FROM _skein_paused_jobs WHERE id = NEW.id)"
                       " OR EXISTS (SELECT 1 FROM " +
                       limited + " AND NOT (place = 1 AND " + is_held("OLD.") +
                       " AND run_at = NEW.run_at AND priority = NEW.priority)))",
                   "DELETE FROM _skein_paused_jobs WHERE id = NEW.id AND NOT " + held +
                       "; UPDATE _skein_limited_jobs SET place = CASE WHEN " + held +
                       " THEN iif(place = 0, 0, 3) WHEN NEW.state = 'pending' THEN 3 ELSE 0 END,"
                       " priority = NEW.priority, run_at = iif(" +
                       held + ", run_at, NEW.run_at) WHERE id = NEW.id; " + settle(key, "NEW.id") +
                       " INSERT INTO _skein_paused_jobs (id, queue, state, run_at)"
                       " SELECT id, queue, state, run_at FROM _honker_live WHERE id = NEW.id"
                       " AND state IN ('pending', 'scheduled') AND NOT " +
                       is_held() + " AND " + is_paused("NEW.queue") + ";");
}

/// What a place in a key means, and what else changes places.
std::vector<text> limit_triggers()
{
    const key_terms of_new{"NEW.queue", "NEW.key"};
    const key_terms of_old{"OLD.queue", "OLD.key"};
    const text paused = is_paused("NEW.queue");
    return {
        trigger("_skein_block_job", "AFTER UPDATE OF place ON _skein_limited_jobs",
                "NEW.place = 2 AND OLD.place <> 2",
                hold + "DELETE FROM _skein_paused_jobs WHERE id = NEW.id;"),
        // In a paused queue it is the pause that holds it from now on.
        trigger("_skein_admit_job", "AFTER UPDATE OF place ON _skein_limited_jobs",
                "NEW.place = 1 AND OLD.place IN (2, 3)",
                "INSERT INTO _skein_paused_jobs (id, queue, state, run_at)"
                " SELECT NEW.id, NEW.queue, 'pending', NEW.run_at FROM _honker_live"
                " WHERE id = NEW.id AND " +
                    is_held() + " AND " + paused +
                    " AND NOT EXISTS (SELECT 1 FROM _skein_paused_jobs WHERE id = NEW.id);"
                    " UPDATE _honker_live SET state = 'pending', run_at = NEW.run_at"
                    " WHERE id = NEW.id AND " +
                    is_held() + " AND NOT " + paused +
                    "; DELETE FROM _skein_paused_jobs WHERE id = NEW.id AND NOT " + paused + ";"),
        trigger("_skein_limit_job", "AFTER INSERT ON _skein_limited_jobs", "NEW.place = 3",
                settle(of_new, "NEW.id")),
        trigger("_skein_free_place", "AFTER DELETE ON _skein_limited_jobs", "",
                "UPDATE _skein_limited_jobs SET place = 1 WHERE OLD.place = 1"
                " AND id = (SELECT id FROM (" +
                    of_old.blocked() + " LIMIT 1)) AND " + of_old.taken() + " < " + of_old.most() +
                    "; DELETE FROM _skein_job_limits WHERE " + of_old.is_same() +
                    " AND NOT EXISTS (SELECT 1 FROM _skein_limited_jobs WHERE " + of_old.is_same() +
                    ");"),
        trigger("_skein_change_limit", "AFTER UPDATE OF most ON _skein_job_limits", "",
                "UPDATE _skein_limited_jobs SET place = 2 WHERE id IN (" + of_new.last_placed() +
                    " LIMIT max(0, " + of_new.taken() +
                    " - NEW.most)); UPDATE _skein_limited_jobs SET place = 1"
                    " WHERE id IN (SELECT id FROM (" +
                    of_new.blocked() + " LIMIT max(0, NEW.most - " + of_new.taken() + ")));")};
}

/// The end of a job, and what a dead letter keeps: when a job that was held was due, and the limit
/// of a job that had one, for the job that may be made of it.
std::vector<text> end_triggers()
{
    return {trigger("_skein_forget_job", "AFTER DELETE ON _honker_live",
                    "EXISTS (SELECT 1 FROM _skein_paused_jobs WHERE queue = OLD.queue)"
                    " OR EXISTS (SELECT 1 FROM _skein_limited_jobs WHERE id = OLD.id)",
                    "DELETE FROM _skein_paused_jobs WHERE id = OLD.id;"
                    " DELETE FROM _skein_limited_jobs WHERE id = OLD.id;"
                    " DELETE FROM _skein_paused_jobs WHERE id IN " +
                        next_paused + "OLD.queue" + of_those + " AND NOT " +
                        is_paused("OLD.queue") + ";"),
            trigger("_skein_bury_held_job", "AFTER INSERT ON _honker_dead",
                    "NEW.run_at = " + std::to_string(held_until),
                    "UPDATE _honker_dead SET run_at = coalesce("
                    "(SELECT run_at FROM _skein_paused_jobs WHERE id = NEW.id),"
                    " (SELECT run_at FROM _skein_limited_jobs WHERE id = NEW.id AND place = 2),"
                    " run_at) WHERE id = NEW.id;"),
            trigger("_skein_bury_limited_job", "AFTER INSERT ON _honker_dead",
                    "EXISTS (SELECT 1 FROM _skein_limited_jobs WHERE id = NEW.id)",
                    "DELETE FROM _skein_limited_letters WHERE id = NEW.id;"
                    " INSERT INTO _skein_limited_letters (id, key, most)"
                    " SELECT jobs.id, jobs.key, limits.most FROM _skein_limited_jobs AS jobs"
                    " JOIN _skein_job_limits AS limits ON limits.queue = jobs.queue"
                    " AND limits.key = jobs.key WHERE jobs.id = NEW.id;"),
            trigger("_skein_renumber_letter", "AFTER UPDATE OF id ON _honker_dead", "",
                    "UPDATE _skein_limited_letters SET id = NEW.id WHERE id = OLD.id;"),
            trigger("_skein_forget_letter", "AFTER DELETE ON _honker_dead", "",
                    "DELETE FROM _skein_limited_letters WHERE id = OLD.id;")};
}

} // namespace

std::string is_held(std::string_view row)
{
    const text name(row);
    return "(" + name + "state = 'scheduled' AND " + name +
           "run_at = " + std::to_string(held_until) + ")";
}

table_family held_job_tables()
{
    table_family family{.addition = "held_jobs",
                        .version = 1,
                        .format = {"_skein_paused_queues", "_skein_paused_jobs",
                                   "_skein_job_limits", "_skein_limited_jobs"},
                        .additions = {"_skein_paused_jobs_in_order", "_skein_limited_jobs_in_order",
                                      "_skein_pause_job", "_skein_resume_job",
                                      "_skein_pause_new_job", "_skein_refuse_claim",
                                      "_skein_resume_more_jobs", "_skein_hold_waiting_job",
                                      "_skein_block_job", "_skein_admit_job", "_skein_limit_job",
                                      "_skein_free_place", "_skein_change_limit",
                                      "_skein_forget_job", "_skein_bury_held_job"},
                        .statements = tables()};
    for (auto part : {pause_triggers(), {waiting_trigger()}, limit_triggers(), end_triggers()}) {
        for (std::string& each : part) {
            family.statements.push_back(std::move(each));
        }
    }
    return family;
}

} // namespace skein::store
