#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"

namespace skein::extension {

namespace {

void enqueue(call& from)
{
    store::new_job job;
    job.queue = from.text(0);
    job.payload = from.text(1);
    job.run_at = from.integer_or_null(2);
    job.delay = from.integer_or_null(3);
    job.priority = from.integer(4);
    job.max_attempts = from.integer(5);
    job.expires_in = from.integer_or_null(6);
    store::require_job(job);
    from.result(from.where().prepared().enqueuer.enqueue(job, from.now()));
}

json to_json(const store::claimed_job& job, std::string_view queue)
{
    return {{"attempts", job.fence.attempts.value_or(0)},
            {"claim_expires_at", job.claim_expires_at},
            {"claimed_at", job.claimed_at},
            {"id", job.fence.id},
            {"payload", job.payload},
            {"queue", queue},
            {"worker_id", job.fence.worker_id}};
}

void claim_batch(call& from)
{
    const store::job_claim claim{from.text(0), from.text(1), from.integer(3)};
    const std::int64_t most = from.integer(2);
    const std::int64_t now = from.now();
    const std::string claimed = from.where().atomically(from, [&] {
        json all = json::array();
        for (const auto& each : from.where().prepared().claimer.claim(claim, most, now)) {
            all.push_back(to_json(each, claim.queue));
        }
        return text_of(all);
    });
    from.result(claimed);
}

void queue_next_claim_at(call& from)
{
    const auto next = from.where().prepared().forecast.next_claim_at(from.text(0), from.now());
    from.result(next.value_or(0));
}

json to_json(const store::live_job& job)
{
    return {{"attempts", job.attempts},
            {"claim_expires_at", or_null(job.claim_expires_at)},
            {"claimed_at", or_null(job.claimed_at)},
            {"created_at", job.created_at},
            {"expires_at", or_null(job.expires_at)},
            {"id", job.id},
            {"max_attempts", job.max_attempts},
            {"payload", job.payload},
            {"priority", job.priority},
            {"queue", job.queue},
            {"run_at", job.run_at},
            {"state", job.state},
            {"worker_id", or_null(job.worker_id)}};
}

void get_job(call& from)
{
    const auto found = from.where().prepared().inspection.find_live(from.integer(0));
    from.result(found ? text_of(to_json(*found)) : "");
}

void cancel(call& from)
{
    from.result(from.where().prepared().canceller.cancel(from.integer(0)));
}

void cancel_in_queue(call& from)
{
    from.result(from.where().prepared().canceller.cancel(from.text(0), from.integer(1)));
}

void sweep_expired(call& from)
{
    const std::string_view queue = from.text(0);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(
        from, [&] { return from.where().prepared().housekeeping.sweep_expired(queue, now); }));
}

json to_json(const store::queue_counts& counts)
{
    return {{"dead", counts.dead},
            {"held", counts.held},
            {"lapsed", counts.lapsed},
            {"next_due", or_null(counts.next_due)},
            {"oldest_ready", or_null(counts.oldest_ready)},
            {"pending", counts.pending},
            {"processing", counts.processing},
            {"scheduled", counts.scheduled}};
}

void queue_counts(call& from)
{
    const std::string_view queue = from.text(0);
    from.result(text_of(to_json(from.where().prepared().inspection.counts(queue, from.now()))));
}

void queues(call& from)
{
    store::queue_inspection& inspection = from.where().prepared().inspection;
    json all = json::object();
    for (auto name = inspection.first_name(); name; name = inspection.next_name(*name)) {
        all[*name] = to_json(inspection.counts(*name, from.now()));
    }
    from.result(text_of(all));
}

} // namespace

std::vector<function> job_functions()
{
    return {{"honker_enqueue",
             {"queue", "payload", "run_at", "delay", "priority", "max_attempts", "expires"},
             enqueue},
            {"honker_claim_batch", {"queue", "worker_id", "n", "timeout_s"}, claim_batch},
            {"honker_queue_next_claim_at", {"queue"}, queue_next_claim_at},
            {"honker_get_job", {"job_id"}, get_job},
            {"honker_cancel", {"job_id"}, cancel},
            {"honker_cancel", {"queue", "job_id"}, cancel_in_queue},
            {"honker_sweep_expired", {"queue"}, sweep_expired},
            {"skein_queue_counts", {"queue"}, queue_counts},
            {"skein_queues", {}, queues}};
}

} // namespace skein::extension
