#include "api/transport/fence_units.hpp"

#include "api/misuse.hpp"
#include "runtime/epoch.hpp"

#include <cmath>

namespace skein::api {

fence_unit::fence_unit(std::shared_ptr<const transport_state> where, store::message_fence fence,
                       std::optional<clock::steady_time> held_since)
    : where_(std::move(where)), fence_(std::move(fence)), held_since_(held_since)
{
}

void fence_unit::run(runtime::batch& batch)
{
    result = apply(where_->ready(batch), fence_, runtime::to_epoch(batch.now()));
    batch.touch(*where_->source);
    const held_message claim{*where_, fence_, held_since_};
    if (result) {
        note_done(batch, claim);
    } else {
        note_message_lost(batch, claim, verb());
    }
}

void ack_unit::note_done(runtime::batch& batch, const held_message& claim) const
{
    note_acked(batch, claim);
}

void nack_unit::note_done(runtime::batch& batch, const held_message& claim) const
{
    note_nacked(batch, claim, delay_);
}

bool ack_unit::apply(store::transport& store, const store::message_fence& fence, double /*now*/)
{
    return store.ack(fence);
}

bool nack_unit::apply(store::transport& store, const store::message_fence& fence, double now)
{
    return delay_ > 0 ? store.park(fence, now + delay_) : store.release(fence);
}

bool extend_unit::apply(store::transport& store, const store::message_fence& fence, double now)
{
    expires_at_ = now + visibility_;
    return store.extend(fence, expires_at_);
}

ack_many_unit::ack_many_unit(const transport_state& where, std::span<const message> messages)
{
    leases_.reserve(messages.size());
    for (const message& each : messages) {
        const std::shared_ptr<message_lease>& lease = message_lease::of(each);
        if (lease == nullptr || lease->transport->engine != where.engine) {
            throw error(errc::invalid_argument,
                        "messages: element " + std::to_string(leases_.size()) +
                            (lease == nullptr ? " is empty" : " is of another database") +
                            "; messages of this database are accepted");
        }
        leases_.push_back(lease);
    }
}

void ack_many_unit::run(runtime::batch& batch)
{
    result.clear();
    for (const auto& lease : leases_) {
        const held_message claim{*lease->transport, lease->fence, lease->held_since};
        const bool is_ours = lease->transport->ready(batch).ack(lease->fence);
        batch.touch(*lease->transport->source);
        if (is_ours) {
            note_acked(batch, claim);
        } else {
            note_message_lost(batch, claim, "ack");
        }
        result.push_back(is_ours);
    }
}

void ack_many_unit::keep_leases() const noexcept
{
    for (const auto& lease : leases_) {
        lease->is_kept = true;
    }
}

double checked_delay(duration delay)
{
    if (std::isnan(delay.count())) {
        throw error(errc::invalid_argument, "delay: not a number; any length of time is accepted");
    }
    return delay.count();
}

double checked_visibility(duration visibility)
{
    checked([&] { store::require_visibility(visibility.count()); });
    return visibility.count();
}

} // namespace skein::api
