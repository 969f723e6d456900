#include "store/queue/job_claimer.hpp"

#include "store/queue/claimable_jobs.hpp"
#include "store/saturating.hpp"

#include <algorithm>
#include <tuple>

namespace skein::store {

namespace {

/// In one claim, so that none holds the lock for long.
constexpr std::int64_t most_put_aside = 500;

constexpr const char* in_order = " ORDER BY priority DESC, run_at, id LIMIT ?3";

/// The claim of what is `chosen`, which `id_is` compares with: for one job, `=` with a scalar is
/// faster than `IN`.
std::string claim_statement(const std::string& id_is, const std::string& chosen)
{
    return "UPDATE _honker_live SET state = 'processing', worker_id = ?4, claim_expires_at = ?5,"
           " claimed_at = ?2, attempts = attempts + 1 WHERE id " +
           id_is + " (SELECT id" + chosen + in_order +
           ") RETURNING id, payload, attempts, max_attempts, priority, run_at";
}

/// The leases that have lapsed must be sorted: there is no index with their priorities.
std::string ready_or_lapsed_jobs()
{
    const std::string row = "SELECT id, priority, run_at";
    return " FROM (SELECT * FROM (" + row + ready_jobs() + in_order + ") UNION ALL " + row +
           " FROM _honker_live INDEXED BY _honker_live_processing_deadline"
           " WHERE state = 'processing' AND queue = ?1 AND claim_expires_at < ?2 AND " +
           is_wanted + ")";
}

/// Of the jobs that are ready only the first ones, be they wanted or not.
std::string nearest_ready_jobs()
{
    return std::string(" FROM (SELECT id, priority, run_at, attempts, max_attempts, expires_at"
                       " FROM _honker_live INDEXED BY _honker_live_ready"
                       " WHERE state = 'pending' AND queue = ?1 AND run_at <= ?2"
                       " ORDER BY priority DESC, run_at, id LIMIT 2000) WHERE ") +
           is_wanted;
}

/// A job with what its place among the others depends on.
struct placed_job {
    std::int64_t priority = 0;
    std::int64_t run_at = 0;
    claimed_job job;
};

bool comes_before(const placed_job& left, const placed_job& right)
{
    return std::tie(right.priority, left.run_at, left.job.fence.id) <
           std::tie(left.priority, right.run_at, right.job.fence.id);
}

} // namespace

job_claimer::job_claimer(sqlite::connection connection)
    : housekeeping_(connection), held_(connection), pauses_(connection),
      find_ready_(connection, "SELECT 1" + ready_jobs() + " LIMIT 1"),
      claim_one_ready_(connection, claim_statement("=", ready_jobs())),
      claim_many_ready_(connection, claim_statement("IN", ready_jobs())),
      claim_one_(connection, claim_statement("=", ready_or_lapsed_jobs())),
      claim_many_(connection, claim_statement("IN", ready_or_lapsed_jobs())),
      claim_near_(connection, claim_statement("IN", nearest_ready_jobs()))
{
}

bool job_claimer::has_work(std::string_view queue, std::int64_t now)
{
    return housekeeping_.look(queue, now).any() || find_ready_.start(queue, now).step();
}

std::vector<claimed_job> job_claimer::claim(const job_claim& claim, std::int64_t most,
                                            std::int64_t now)
{
    const queue_housekeeping::chores done = keep_house(claim.queue, now);
    return run(choose(done, most), claim, most, now);
}

job_claimer::some_jobs job_claimer::claim_some(const job_claim& claim, std::int64_t most,
                                               std::int64_t now)
{
    const queue_housekeeping::chores done = keep_house(claim.queue, now);
    const bool walks_past_all = !done.more_expired || done.lapsed;
    std::vector<claimed_job> jobs =
        run(walks_past_all ? choose(done, most) : claim_near_, claim, most, now);
    const bool is_enough = static_cast<std::int64_t>(jobs.size()) == most;
    const bool is_finished = is_enough || (walks_past_all && !done.more_due);
    if (jobs.empty() && is_finished && find_ready_.start(claim.queue, now).step()) {
        put_aside(claim.queue);
        return {std::move(jobs), false};
    }
    return {std::move(jobs), is_finished};
}

/// Jobs are ready, and no claim gets one. Where the queue has been paused, and not all of them were
/// put aside, that goes on. Otherwise a waiter would look again and again.
void job_claimer::put_aside(std::string_view queue)
{
    if (!held_.is_paused(queue)) {
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER,
                            "a trigger on _honker_live ignores the claim");
    }
    pauses_.move_slice(queue, most_put_aside);
}

queue_housekeeping::chores job_claimer::keep_house(std::string_view queue, std::int64_t now)
{
    const queue_housekeeping::chores done = housekeeping_.run(queue, now);
    may_have_buried_ = done.expired || done.lapsed;
    return done;
}

/// Where no lease has lapsed there are only ready jobs, and the index has their order.
sqlite::statement& job_claimer::choose(const queue_housekeeping::chores& done, std::int64_t most)
{
    if (done.lapsed) {
        return most == 1 ? claim_one_ : claim_many_;
    }
    return most == 1 ? claim_one_ready_ : claim_many_ready_;
}

std::vector<claimed_job> job_claimer::run(sqlite::statement& statement, const job_claim& claim,
                                          std::int64_t most, std::int64_t now)
{
    const std::int64_t expires_at = saturating_add(now, claim.visibility);
    std::vector<placed_job> placed;
    {
        sqlite::execution found =
            statement.start(claim.queue, now, most, claim.worker_id, expires_at);
        while (found.step()) {
            placed.push_back(
                {found.integer(4), found.integer(5),
                 claimed_job{{found.integer(0), std::string(claim.worker_id), found.integer(2)},
                             std::string(found.text(1)),
                             found.integer(3),
                             now,
                             expires_at,
                             found.integer(5)}});
        }
    }

    // They come in the order in which they were written.
    std::ranges::sort(placed, comes_before);
    std::vector<claimed_job> claimed;
    claimed.reserve(placed.size());
    for (placed_job& each : placed) {
        claimed.push_back(std::move(each.job));
    }
    return claimed;
}

} // namespace skein::store
