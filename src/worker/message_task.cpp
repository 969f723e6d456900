#include "worker/message_task.hpp"

#include "api/transport/fence_units.hpp"
#include "runtime/epoch.hpp"

namespace skein::worker {

namespace {

/// Returns whether the fence was good.
template <class Unit, class... Arguments>
bool run_in(runtime::batch& batch, const api::message_lease& lease, Arguments... arguments)
{
    Unit unit(lease.transport, lease.fence, arguments...);
    unit.run(batch);
    return unit.result;
}

} // namespace

message_task::message_task(message claimed, std::int64_t attempt, double visibility)
    : handle_(std::move(claimed)), lease_(api::message_lease::of(handle_)), attempt_(attempt),
      visibility_(visibility)
{
}

bool message_task::has_lapsed(clock::wall_time now) const noexcept
{
    return lease_->expires_at < runtime::to_epoch(now);
}

void message_task::begin_end(const verdict& how) noexcept
{
    note_ending();
    if (how.what == verdict::kind::done) {
        lease_->is_kept = true;
    }
}

heartbeat message_task::extend(runtime::batch& batch)
{
    api::extend_unit unit(lease_->transport, lease_->fence, visibility_);
    unit.run(batch);
    if (unit.result) {
        batch.after_commit([lease = lease_, end = unit.expires_at()] { lease->expires_at = end; });
    }
    return unit.result ? heartbeat::extended : heartbeat::lost;
}

task_end message_task::finish(runtime::batch& batch, const verdict& how)
{
    const bool is_ours = how.what == verdict::kind::done
                             ? run_in<api::ack_unit>(batch, *lease_)
                             : run_in<api::nack_unit>(batch, *lease_, how.delay.count());
    batch.after_commit([lease = lease_] { lease->is_kept = true; });
    return is_ours ? end_of(how.what) : task_end::lost;
}

} // namespace skein::worker
