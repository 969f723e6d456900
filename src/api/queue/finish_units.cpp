#include "api/queue/finish_units.hpp"

#include "api/seconds.hpp"
#include "store/queue/job_burial.hpp"
#include "store/saturating.hpp"

#include <skein/error.hpp>

#include <algorithm>

namespace skein::api {

namespace {

retry_outcome acted(bool has_acted) noexcept
{
    return has_acted ? retry_outcome::waiting : retry_outcome::stale;
}

retry_outcome public_outcome(store::retry_outcome outcome) noexcept
{
    switch (outcome) {
    case store::retry_outcome::waiting:
        return retry_outcome::waiting;
    case store::retry_outcome::dead:
        return retry_outcome::dead;
    case store::retry_outcome::stale:
        break;
    }
    return retry_outcome::stale;
}

} // namespace

finishing::finishing(verb which, std::int64_t seconds, std::string_view error)
    : verb_(which), seconds_(seconds), error_(error)
{
}

finishing finishing::ack()
{
    return finishing(verb::ack);
}

finishing finishing::retry(std::chrono::seconds delay, std::string_view error)
{
    return finishing(verb::retry, delay.count(), error);
}

finishing finishing::fail(std::string_view error)
{
    return finishing(verb::fail, 0, error);
}

finishing finishing::extend(std::chrono::seconds visibility)
{
    return finishing(verb::extend, checked_visibility(visibility));
}

finishing finishing::release()
{
    return finishing(verb::release);
}

finishing finishing::snooze(std::chrono::seconds delay)
{
    return finishing(verb::snooze, delay.count());
}

retry_outcome finishing::apply(runtime::batch& batch, const held_claim& claim) const
{
    const int changed_before = batch.connection().total_changes();
    const retry_outcome outcome =
        run(claim.queue.ready(batch).finisher, claim.fence, to_seconds(batch.now()));
    const int changed = batch.connection().total_changes() - changed_before;
    if (outcome != retry_outcome::stale) {
        touch(batch, claim, outcome, changed);
    }
    if (batch.is_observed()) {
        note(batch, claim, outcome);
    }
    return outcome;
}

retry_outcome finishing::apply_in_transaction(runtime::batch& batch, const held_claim& claim) const
{
    return claim.queue.ready(batch).savepoint.run([&] { return apply(batch, claim); });
}

void finishing::touch(runtime::batch& batch, const held_claim& claim, retry_outcome outcome,
                      int changed) const
{
    const queue_state& where = claim.queue;
    const bool is_over =
        verb_ == verb::ack || verb_ == verb::fail || outcome == retry_outcome::dead;
    if (is_over) {
        queue_store::touch_end(batch, claim.fence.id);
        if (verb_ != verb::ack || changed != 1) {
            batch.touch_everything(); // another job of its key may have got its place
        }
    } else if (where.ready(batch).finisher.is_in(where.name(), claim.fence.id)) {
        batch.touch(*where.source);
    } else {
        batch.touch_everything(); // a fence does not tell its queue
    }
}

void finishing::note(runtime::batch& batch, const held_claim& claim, retry_outcome outcome) const
{
    job_attempt about;
    about.queue = claim.queue.name(); // which the engine keeps
    about.id = claim.fence.id;
    about.attempt = claim.fence.attempts.value_or(0);
    if (claim.since) {
        about.held = batch.owner().steady_now() - *claim.since;
    }
    batch.note([how = *this, about, outcome](runtime::event_sink& told) {
        told.tell([&](observer& who) { how.tell(who, about, outcome); });
    });
}

void finishing::tell(observer& who, const job_attempt& about, retry_outcome outcome) const
{
    if (outcome == retry_outcome::stale) {
        who.on_job_lease_lost({about, name()});
        return;
    }
    if (outcome == retry_outcome::dead) {
        who.on_job_died({about, death_cause::exhausted, last_error()});
        return;
    }
    const std::chrono::seconds delay{std::max<std::int64_t>(seconds_, 0)};
    switch (verb_) {
    case verb::ack:
        return who.on_job_acked({about});
    case verb::retry:
        return who.on_job_retried({about, delay, error_});
    case verb::fail:
        return who.on_job_died({about, death_cause::failed, error_});
    case verb::release:
    case verb::snooze:
        return who.on_job_released({about, delay});
    case verb::extend:
        break; // a heartbeat changes nothing that is told
    }
}

std::string_view finishing::name() const noexcept
{
    switch (verb_) {
    case verb::ack:
        return "ack";
    case verb::retry:
        return "retry";
    case verb::fail:
        return "fail";
    case verb::extend:
        return "extend";
    case verb::release:
        return "release";
    case verb::snooze:
        break;
    }
    return "snooze";
}

/// Why a job is dead whose last attempt has failed.
std::string_view finishing::last_error() const noexcept
{
    return error_.empty() ? store::exhausted_error : std::string_view(error_);
}

retry_outcome finishing::run(store::job_finisher& finisher, const store::job_fence& fence,
                             std::int64_t now) const
{
    switch (verb_) {
    case verb::ack:
        return acted(finisher.ack(fence, now));
    case verb::retry:
        return public_outcome(finisher.retry(fence, seconds_, last_error(), now));
    case verb::fail:
        return acted(finisher.fail(fence, error_, now));
    case verb::extend:
        return acted(finisher.extend(fence, seconds_, now));
    case verb::release:
        return acted(finisher.release(fence, now));
    case verb::snooze:
        return acted(finisher.snooze(fence, seconds_, now));
    }
    return retry_outcome::stale;
}

void finishing::note_attempt(job_lease& lease) const noexcept
{
    if (verb_ == verb::ack) {
        lease.is_kept = true;
    }
}

void finishing::note_success(job_lease& lease, retry_outcome outcome,
                             std::int64_t now) const noexcept
{
    if (verb_ != verb::extend) {
        lease.is_kept = true;
    } else if (outcome != retry_outcome::stale) {
        lease.expires_at = store::saturating_add(now, seconds_);
    }
}

bool finishing::learns_of_stop(runtime::batch& batch, const queue_state& where,
                               const store::job_fence& fence) const
{
    if (verb_ != verb::extend || !fence.attempts) {
        return false;
    }
    store::stop_requests* const there = where.features->stop_requests(batch, where.ready(batch));
    return there != nullptr && there->is_requested(fence.id, *fence.attempts);
}

void finish_unit::run(runtime::batch& batch)
{
    done_at_ = to_seconds(batch.now());
    result = how_.apply(batch, {*where_, fence_, held_since_});
    is_stop_requested_ = how_.learns_of_stop(batch, *where_, fence_);
}

finish_many_unit::finish_many_unit(const queue_state& where, std::span<const job> jobs,
                                   finishing how)
    : how_(std::move(how))
{
    leases_.reserve(jobs.size());
    for (const job& each : jobs) {
        const std::shared_ptr<job_lease>& lease = job_lease::of(each);
        if (lease == nullptr || lease->queue->engine != where.engine) {
            throw error(errc::invalid_argument,
                        "jobs: element " + std::to_string(leases_.size()) +
                            (lease == nullptr ? " is empty" : " is of another database") +
                            "; jobs of this database are accepted");
        }
        leases_.push_back(lease);
    }
}

void finish_many_unit::run(runtime::batch& batch)
{
    done_at_ = to_seconds(batch.now());
    result.clear();
    stopping_.clear();
    for (const auto& lease : leases_) {
        result.push_back(how_.apply(batch, {*lease->queue, lease->fence, lease->held_since}));
        if (how_.learns_of_stop(batch, *lease->queue, lease->fence)) {
            stopping_.push_back(lease.get());
        }
    }
}

void finish_many_unit::committed()
{
    for (std::size_t each = 0; each != leases_.size(); ++each) {
        how_.note_success(*leases_[each], result[each], done_at_);
    }
    for (job_lease* const each : stopping_) {
        each->is_stop_requested = true;
    }
}

void finish_many_unit::note_attempt() const noexcept
{
    for (const auto& lease : leases_) {
        how_.note_attempt(*lease);
    }
}

} // namespace skein::api
