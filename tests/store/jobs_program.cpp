#include "store/jobs_program.hpp"

#include "store/queue/claim_forecast.hpp"
#include "store/queue/held_jobs_schema.hpp"
#include "store/queue/job_canceller.hpp"
#include "store/queue/job_changer.hpp"
#include "store/queue/job_claimer.hpp"
#include "store/queue/queue_pauses.hpp"
#include "store/queue/queue_schema.hpp"
#include "store/queue/stop_requests.hpp"
#include "store/queue/stop_requests_schema.hpp"
#include "store/queue/unique_jobs_schema.hpp"
#include "support/write_transaction.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace skein::store {

namespace {

std::string text(std::int64_t value)
{
    return std::to_string(value);
}

std::string in_quotes(std::string_view value)
{
    return "'" + std::string(value) + "'";
}

/// The claim of a worker that knows only its own name.
std::string is_held_by(const job_fence& fence, std::int64_t now)
{
    return "id = " + text(fence.id) + " AND worker_id = " + in_quotes(fence.worker_id) +
           " AND state = 'processing' AND claim_expires_at >= " + text(now);
}

} // namespace

std::vector<std::string> shared_tables_program::run(std::string_view statements) const
{
    return support::in_write_transaction(file_, [&] { return file_.sql(statements); });
}

bool shared_tables_program::finds(const std::string& condition) const
{
    return !file_.sql("SELECT 1 FROM _honker_live WHERE " + condition).empty();
}

/// Looks first: to compile all the triggers takes longer than everything else here.
void shared_tables_program::bury(const std::string& those, const std::string& error,
                                 std::int64_t now) const
{
    if (finds(those)) {
        file_.sql("INSERT INTO _honker_dead (id, queue, payload, priority, run_at, attempts,"
                  " max_attempts, last_error, created_at, died_at) SELECT id, queue, payload,"
                  " priority, run_at, attempts, max_attempts, " +
                  in_quotes(error) + ", created_at, " + text(now) + " FROM _honker_live WHERE " +
                  those + "; DELETE FROM _honker_live WHERE " + those);
    }
}

std::int64_t shared_tables_program::enqueue(const new_job& job, std::int64_t now)
{
    const std::int64_t run_at = now + job.delay.value_or(0);
    const std::string expiry = job.expires_in ? text(now + *job.expires_in) : "NULL";
    return std::stoll(
        run("INSERT INTO _honker_live (queue, payload, state, priority, run_at, max_attempts,"
            " created_at, expires_at) VALUES (" +
            in_quotes(job.queue) + ", " + in_quotes(job.payload) + ", " +
            (run_at > now ? "'scheduled', " : "'pending', ") + text(job.priority) + ", " +
            text(run_at) + ", " + text(job.max_attempts) + ", " + text(now) + ", " + expiry +
            ") RETURNING id")
            .at(0));
}

std::int64_t shared_tables_program::sweep_expired(std::string_view queue, std::int64_t now)
{
    const std::string those = "queue = " + in_quotes(queue) + " AND expires_at <= " + text(now) +
                              " AND (state IN ('pending', 'scheduled') OR (state = 'processing'"
                              " AND claim_expires_at < " +
                              text(now) + "))";
    return support::in_write_transaction(file_, [&] {
        const std::string count = file_.value("SELECT count(*) FROM _honker_live WHERE " + those);
        bury(those, "expired", now);
        return std::stoll(count);
    });
}

std::vector<job_fence> shared_tables_program::claim(std::string_view queue, std::string_view worker,
                                                    std::int64_t visibility, std::int64_t most,
                                                    std::int64_t now)
{
    const std::string here = "queue = " + in_quotes(queue) + " AND ";
    const std::string due = here + "state = 'scheduled' AND run_at <= " + text(now);
    if (finds(due)) {
        run("UPDATE _honker_live SET state = 'pending' WHERE " + due);
    }
    sweep_expired(queue, now);
    const std::string lapsed = here + "state = 'processing' AND claim_expires_at < " + text(now);
    support::in_write_transaction(file_, [&] {
        bury(lapsed + " AND attempts >= max_attempts", "max attempts exceeded", now);
        return true;
    });
    const auto rows =
        run("UPDATE _honker_live SET state = 'processing', worker_id = " + in_quotes(worker) +
            ", claim_expires_at = " + text(now + visibility) + ", claimed_at = " + text(now) +
            ", attempts = attempts + 1 WHERE id IN (SELECT id FROM _honker_live WHERE (" + here +
            "state = 'pending' AND run_at <= " + text(now) + ") OR (" + lapsed +
            ") ORDER BY priority DESC, run_at, id LIMIT " + text(most) +
            ") RETURNING -priority, run_at, id, attempts");
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> found;
    for (const std::string& row : rows) {
        std::int64_t columns[4];
        std::size_t begin = 0;
        for (std::int64_t& column : columns) {
            column = std::stoll(row.substr(begin));
            begin = row.find('|', begin) + 1;
        }
        found.emplace_back(columns[0], columns[1], columns[2], columns[3]);
    }
    std::sort(found.begin(), found.end());
    std::vector<job_fence> claimed;
    for (const auto& [priority, run_at, id, attempts] : found) {
        claimed.push_back({id, std::string(worker), attempts});
    }
    return claimed;
}

bool shared_tables_program::ack(const job_fence& fence, std::int64_t now)
{
    return !run("DELETE FROM _honker_live WHERE " + is_held_by(fence, now) + " RETURNING 1")
                .empty();
}

retry_outcome shared_tables_program::retry(const job_fence& fence, std::int64_t delay,
                                           std::int64_t now)
{
    return support::in_write_transaction(file_, [&] {
        const std::string is_ours = is_held_by(fence, now);
        if (!finds(is_ours)) {
            return retry_outcome::stale;
        }
        if (finds(is_ours + " AND attempts >= max_attempts")) {
            bury(is_ours, "late", now);
            return retry_outcome::dead;
        }
        file_.sql("UPDATE _honker_live SET worker_id = NULL, claim_expires_at = NULL,"
                  " claimed_at = NULL, run_at = " +
                  text(now + delay) + ", state = " + (delay > 0 ? "'scheduled'" : "'pending'") +
                  " WHERE " + is_ours);
        return retry_outcome::waiting;
    });
}

bool shared_tables_program::fail(const job_fence& fence, std::int64_t now)
{
    return support::in_write_transaction(file_, [&] {
        const std::string is_ours = is_held_by(fence, now);
        const bool holds = finds(is_ours);
        bury(is_ours, "bad", now);
        return holds;
    });
}

bool shared_tables_program::extend(const job_fence& fence, std::int64_t seconds, std::int64_t now)
{
    return !run("UPDATE _honker_live SET claim_expires_at = " + text(now + seconds) + " WHERE " +
                is_held_by(fence, now) + " RETURNING 1")
                .empty();
}

bool shared_tables_program::cancel(std::string_view queue, std::int64_t id)
{
    return !run("DELETE FROM _honker_live WHERE id = " + text(id) +
                " AND queue = " + in_quotes(queue) + " RETURNING 1")
                .empty();
}

void shared_tables_program::change_all_that_wait(std::string_view queue,
                                                 std::int64_t priority) const
{
    run("UPDATE _honker_live SET priority = " + text(priority) +
        " WHERE queue = " + in_quotes(queue) + " AND state <> 'processing'");
}

void shared_tables_program::cancel_all(std::string_view queue, std::int64_t priority) const
{
    run("DELETE FROM _honker_live WHERE queue = " + in_quotes(queue) +
        " AND priority = " + text(priority));
}

struct keyed_jobs_program::statements {
    explicit statements(sqlite::connection connection)
        : enqueuer(connection), plain_enqueuer(connection), changer(connection),
          claimer(connection), forecast(connection), finisher(connection), canceller(connection),
          housekeeping(connection), pauses(connection), stops(connection), unique(connection)
    {
    }

    keyed_enqueuer enqueuer;
    job_enqueuer plain_enqueuer;
    job_changer changer;
    job_claimer claimer;
    claim_forecast forecast;
    job_finisher finisher;
    job_canceller canceller;
    queue_housekeeping housekeeping;
    queue_pauses pauses;
    stop_requests stops;
    unique_jobs unique;
};

template <class Function>
auto keyed_jobs_program::write(Function&& function)
{
    return support::in_write_transaction(file_, std::forward<Function>(function));
}

keyed_jobs_program::keyed_jobs_program(const std::filesystem::path& path) : jobs_program(path)
{
    file_.sql("PRAGMA journal_mode = wal");
    const sqlite::connection connection(file_.handle());
    write([&] {
        create_queue(connection, 0);
        for (const table_family& each :
             {held_job_tables(), unique_job_tables(), stop_request_tables()}) {
            create_family(connection, each);
        }
        return true;
    });
    with_ = std::make_unique<statements>(connection);
}

keyed_jobs_program::~keyed_jobs_program() = default;

std::int64_t keyed_jobs_program::enqueue(const new_job& job, std::int64_t now)
{
    return write([&] { return with_->plain_enqueuer.enqueue(job, now); });
}

enqueued_job keyed_jobs_program::enqueue(const new_job& job, const job_keys& keys, std::int64_t now)
{
    require_keys(keys);
    return write([&] { return with_->enqueuer.enqueue(job, keys, now); });
}

bool keyed_jobs_program::change(std::string_view queue, std::int64_t id, const job_change& wanted,
                                std::int64_t now)
{
    return write([&] { return with_->changer.change(queue, id, wanted, now); });
}

std::vector<job_fence> keyed_jobs_program::claim(std::string_view queue, std::string_view worker,
                                                 std::int64_t visibility, std::int64_t most,
                                                 std::int64_t now)
{
    const job_claimer::some_jobs some =
        write([&] { return with_->claimer.claim_some({queue, worker, visibility}, most, now); });
    std::vector<job_fence> claimed;
    for (const claimed_job& each : some.jobs) {
        claimed.push_back(each.fence);
    }
    return claimed;
}

std::int64_t keyed_jobs_program::sweep_expired(std::string_view queue, std::int64_t now)
{
    return write([&] { return with_->housekeeping.sweep_expired(queue, now); });
}

bool keyed_jobs_program::ack(const job_fence& fence, std::int64_t now)
{
    return write([&] { return with_->finisher.ack(fence, now); });
}

retry_outcome keyed_jobs_program::retry(const job_fence& fence, std::int64_t delay,
                                        std::int64_t now)
{
    return write([&] { return with_->finisher.retry(fence, delay, "late", now); });
}

bool keyed_jobs_program::fail(const job_fence& fence, std::int64_t now)
{
    return write([&] { return with_->finisher.fail(fence, "bad", now); });
}

bool keyed_jobs_program::extend(const job_fence& fence, std::int64_t seconds, std::int64_t now)
{
    return write([&] { return with_->finisher.extend(fence, seconds, now); });
}

bool keyed_jobs_program::release(const job_fence& fence, std::int64_t now)
{
    return write([&] { return with_->finisher.release(fence, now); });
}

bool keyed_jobs_program::snooze(const job_fence& fence, std::int64_t delay, std::int64_t now)
{
    return write([&] { return with_->finisher.snooze(fence, delay, now); });
}

bool keyed_jobs_program::cancel(std::string_view queue, std::int64_t id)
{
    return write([&] { return with_->canceller.cancel(queue, id); });
}

bool keyed_jobs_program::pause(std::string_view queue)
{
    return write([&] { return with_->pauses.pause(queue); });
}

bool keyed_jobs_program::resume(std::string_view queue)
{
    return write([&] { return with_->pauses.resume(queue); });
}

std::int64_t keyed_jobs_program::move_slice(std::string_view queue, std::int64_t most)
{
    return write([&] { return with_->pauses.move_slice(queue, most); });
}

bool keyed_jobs_program::request_stop(std::string_view queue, std::int64_t id)
{
    return write([&] { return with_->stops.request(queue, id); });
}

bool keyed_jobs_program::is_stop_requested(std::int64_t id, std::int64_t attempt)
{
    return with_->stops.is_requested(id, attempt);
}

bool keyed_jobs_program::has_work(std::string_view queue, std::int64_t now)
{
    return with_->claimer.has_work(queue, now);
}

std::optional<std::int64_t> keyed_jobs_program::next_claim_at(std::string_view queue,
                                                              std::int64_t now)
{
    return with_->forecast.next_claim_at(queue, now);
}

std::optional<std::int64_t> keyed_jobs_program::holder(std::string_view queue, std::string_view key,
                                                       std::int64_t now)
{
    return with_->unique.holder(queue, key, now);
}

} // namespace skein::store
