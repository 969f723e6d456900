#include "store/queue/queue_inspection.hpp"

#include "store/queue/held_jobs_schema.hpp"

namespace skein::store {

namespace {

constexpr const char* columns = "id, queue, payload, state, priority, run_at, worker_id,"
                                " claim_expires_at, claimed_at, attempts, max_attempts,"
                                " created_at, expires_at";

/// `what` of the jobs of queue `?1` in one state.
std::string of_state(const std::string& what, const std::string& state, const std::string& index)
{
    return "SELECT " + what + " FROM _honker_live INDEXED BY " + index + " WHERE state = '" +
           state + "' AND queue = ?1";
}

std::string of_pending(const std::string& what)
{
    return of_state(what, "pending", "_honker_live_ready");
}

std::string of_scheduled(const std::string& what)
{
    return of_state(what, "scheduled", "_honker_live_scheduled");
}

std::string of_processing(const std::string& what)
{
    return of_state(what, "processing", "_honker_live_processing_deadline");
}

/// The first name that compares so with `?1`: each index is asked for its own, which is one step
/// into it. A name that is no text can be given by nobody; it would come again and again.
std::string first_of_names(const std::string& comparison)
{
    const std::string condition = "queue " + comparison + " ?1 AND queue < x''";
    const auto in_state = [&](const std::string& state, const std::string& index) {
        return "SELECT min(queue) AS name FROM _honker_live INDEXED BY " + index +
               " WHERE state = '" + state + "' AND " + condition + " UNION ALL ";
    };
    return "SELECT min(name) FROM (" + in_state("pending", "_honker_live_ready") +
           in_state("scheduled", "_honker_live_scheduled") +
           in_state("processing", "_honker_live_processing_deadline") +
           "SELECT min(queue) FROM _honker_dead WHERE " + condition + ")";
}

std::optional<std::string> read_name(sqlite::execution found)
{
    if (!found.step() || found.is_null(0)) {
        return std::nullopt;
    }
    return std::string(found.text(0));
}

std::optional<std::int64_t> number(const sqlite::execution& found, int column)
{
    return found.is_null(column) ? std::nullopt : std::optional(found.integer(column));
}

live_job read(const sqlite::execution& found)
{
    live_job job;
    job.id = found.integer(0);
    job.queue = found.text(1);
    job.payload = found.text(2);
    job.state = found.text(3);
    job.priority = found.integer(4);
    job.run_at = found.integer(5);
    if (!found.is_null(6)) {
        job.worker_id.emplace(found.text(6));
    }
    job.claim_expires_at = number(found, 7);
    job.claimed_at = number(found, 8);
    job.attempts = found.integer(9);
    job.max_attempts = found.integer(10);
    job.created_at = found.integer(11);
    job.expires_at = number(found, 12);
    return job;
}

/// A page of a list, filled by statements that each go on where the one before has ended. SQLite
/// finds no place in these indexes by one comparison of several columns: it would walk past all
/// jobs of the same moment.
class page {
public:
    page(std::string_view queue, std::int64_t limit) : queue_(queue), limit_(limit) {}

    template <class... Values>
    void add(sqlite::statement& next, const Values&... values)
    {
        const std::int64_t left = limit_ - static_cast<std::int64_t>(jobs_.size());
        if (left <= 0) {
            return;
        }
        sqlite::execution found = next.start(queue_, left, values...);
        while (found.step()) {
            jobs_.push_back(read(found));
        }
    }

    [[nodiscard]] std::vector<live_job> jobs() && { return std::move(jobs_); }

private:
    std::string_view queue_;
    std::int64_t limit_;
    std::vector<live_job> jobs_;
};

} // namespace

job_position::job_position(const live_job& job)
    : priority(job.priority), run_at(job.run_at),
      claim_expires_at(job.claim_expires_at.value_or(job_position().claim_expires_at)), id(job.id)
{
}

queue_inspection::queue_inspection(sqlite::connection connection)
    : dead_(connection), held_(connection),
      find_(connection, std::string("SELECT ") + columns + " FROM _honker_live WHERE id = ?1"),
      pending_at_(connection, of_pending(columns) + " AND priority = ?3 AND run_at = ?4 AND id > ?5"
                                                    " ORDER BY id LIMIT ?2"),
      pending_after_(connection, of_pending(columns) + " AND priority = ?3 AND run_at > ?4"
                                                       " ORDER BY run_at, id LIMIT ?2"),
      pending_below_(connection, of_pending(columns) +
                                     " AND priority < ?3"
                                     " ORDER BY priority DESC, run_at, id LIMIT ?2"),
      scheduled_at_(connection,
                    of_scheduled(columns) + " AND run_at = ?3 AND id > ?4 ORDER BY id LIMIT ?2"),
      scheduled_after_(connection,
                       of_scheduled(columns) + " AND run_at > ?3 ORDER BY run_at, id LIMIT ?2"),
      processing_at_(connection, of_processing(columns) + " AND claim_expires_at = ?3 AND id > ?4"
                                                          " ORDER BY id LIMIT ?2"),
      processing_after_(connection, of_processing(columns) +
                                        " AND claim_expires_at > ?3"
                                        " ORDER BY claim_expires_at, id LIMIT ?2"),
      count_pending_(connection, of_pending("count(*), min(run_at) FILTER (WHERE run_at <= ?2)")),
      count_scheduled_(connection,
                       of_scheduled("count(*), min(run_at) FILTER (WHERE NOT " + is_held() +
                                    "), count(*) FILTER (WHERE " + is_held() + ")")),
      count_processing_(connection,
                        of_processing("count(*), count(*) FILTER (WHERE claim_expires_at < ?2)")),
      count_dead_(connection, "SELECT count(*) FROM _honker_dead WHERE queue = ?1"),
      first_name_(connection, first_of_names(">=")), next_name_(connection, first_of_names(">"))
{
}

std::optional<live_job> queue_inspection::find_live(std::int64_t id)
{
    sqlite::execution found = find_.start(id);
    if (!found.step()) {
        return std::nullopt;
    }
    return with_due_time(read(found));
}

/// Looks that up only for a job that could be held.
live_job queue_inspection::with_due_time(live_job job)
{
    if (job.state == "scheduled" && job.run_at == held_until) {
        job.held_run_at = held_.due_time(job.id);
    }
    return job;
}

found_job queue_inspection::find(std::int64_t id)
{
    if (std::optional<live_job> live = find_live(id)) {
        return *std::move(live);
    }
    if (std::optional<dead_letter> dead = dead_.find(id)) {
        return *std::move(dead);
    }
    return {};
}

std::vector<live_job> queue_inspection::list(std::string_view queue, job_state state,
                                             const job_position& after, std::int64_t limit)
{
    page jobs(queue, limit);
    switch (state) {
    case job_state::pending:
        jobs.add(pending_at_, after.priority, after.run_at, after.id);
        jobs.add(pending_after_, after.priority, after.run_at);
        jobs.add(pending_below_, after.priority);
        break;
    case job_state::scheduled:
        jobs.add(scheduled_at_, after.run_at, after.id);
        jobs.add(scheduled_after_, after.run_at);
        break;
    case job_state::processing:
        jobs.add(processing_at_, after.claim_expires_at, after.id);
        jobs.add(processing_after_, after.claim_expires_at);
        break;
    }
    std::vector<live_job> listed = std::move(jobs).jobs();
    for (live_job& each : listed) {
        each = with_due_time(std::move(each));
    }
    return listed;
}

queue_counts queue_inspection::counts(std::string_view queue, std::int64_t now)
{
    queue_counts counts;
    {
        sqlite::execution found = count_pending_.start(queue, now);
        found.step();
        counts.pending = found.integer(0);
        counts.oldest_ready = number(found, 1);
    }
    {
        sqlite::execution found = count_scheduled_.start(queue);
        found.step();
        counts.scheduled = found.integer(0);
        counts.next_due = number(found, 1);
        counts.held = found.integer(2);
    }
    {
        sqlite::execution found = count_processing_.start(queue, now);
        found.step();
        counts.processing = found.integer(0);
        counts.lapsed = found.integer(1);
    }
    sqlite::execution found = count_dead_.start(queue);
    found.step();
    counts.dead = found.integer(0);
    return counts;
}

std::optional<std::string> queue_inspection::first_name()
{
    return read_name(first_name_.start(std::string_view()));
}

std::optional<std::string> queue_inspection::next_name(std::string_view after)
{
    return read_name(next_name_.start(after));
}

} // namespace skein::store
