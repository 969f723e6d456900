#include "worker/job_task.hpp"

#include "api/queue/finish_units.hpp"
#include "api/seconds.hpp"
#include "worker/run_settings.hpp"

namespace skein::worker {

namespace {

api::finishing finishing_of(const verdict& how, bool is_looked_at)
{
    switch (how.what) {
    case verdict::kind::done:
        return api::finishing::ack();
    case verdict::kind::retry:
        return api::finishing::retry(whole_seconds(how.delay), how.reason);
    case verdict::kind::bury:
        return api::finishing::fail(how.reason);
    case verdict::kind::put_off:
        return api::finishing::snooze(whole_seconds(how.delay));
    case verdict::kind::give_back:
        break;
    }
    // As dropping the handle does.
    return is_looked_at ? api::finishing::retry({}, how.reason) : api::finishing::release();
}

task_end end_of(verdict::kind what, retry_outcome outcome) noexcept
{
    if (outcome == retry_outcome::stale) {
        return task_end::lost;
    }
    return outcome == retry_outcome::dead ? task_end::dead : worker::end_of(what);
}

} // namespace

job_task::job_task(job claimed, std::int64_t visibility, std::int64_t result_ttl)
    : handle_(std::move(claimed)), lease_(api::job_lease::of(handle_)), visibility_(visibility),
      result_ttl_(result_ttl)
{
}

bool job_task::has_lapsed(clock::wall_time now) const noexcept
{
    return lease_->expires_at < api::to_seconds(now);
}

void job_task::begin_end(const verdict& how) noexcept
{
    note_ending();
    if (how.what == verdict::kind::done) {
        lease_->is_kept = true;
    }
}

heartbeat job_task::extend(runtime::batch& batch)
{
    const auto how = api::finishing::extend(std::chrono::seconds{visibility_});
    const retry_outcome outcome =
        how.apply(batch, {*lease_->queue, lease_->fence, lease_->held_since});
    const bool is_stop_requested = how.learns_of_stop(batch, *lease_->queue, lease_->fence);
    batch.after_commit(
        [lease = lease_, how, outcome, now = api::to_seconds(batch.now()), is_stop_requested] {
            how.note_success(*lease, outcome, now);
            if (is_stop_requested) {
                lease->is_stop_requested = true;
            }
        });
    if (outcome == retry_outcome::stale) {
        return heartbeat::lost;
    }
    return is_stop_requested ? heartbeat::stop_requested : heartbeat::extended;
}

task_end job_task::finish(runtime::batch& batch, const verdict& how)
{
    const api::finishing finishing = finishing_of(how, lease_->is_looked_at);
    const retry_outcome outcome =
        finishing.apply(batch, {*lease_->queue, lease_->fence, lease_->held_since});
    if (outcome != retry_outcome::stale && how.result) {
        keep_result(batch, *how.result);
    }
    batch.after_commit([lease = lease_] { lease->is_kept = true; });
    return end_of(how.what, outcome);
}

/// Whoever waits for the job is told by its end.
void job_task::keep_result(runtime::batch& batch, const std::string& result) const
{
    lease_->queue->ready(batch).results.save(lease_->fence.id, result, result_ttl_,
                                             api::to_seconds(batch.now()));
}

} // namespace skein::worker
