#include "api/fence_units.hpp"

#include "api/misuse.hpp"
#include "runtime/epoch.hpp"

#include <cmath>

namespace skein::api {

fence_unit::fence_unit(std::shared_ptr<const transport_state> where, store::message_fence fence)
    : where_(std::move(where)), fence_(std::move(fence))
{
}

void fence_unit::run(runtime::batch& batch)
{
    result = apply(where_->ready(batch), fence_, runtime::to_epoch(batch.now()));
    batch.touch(*where_->source);
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
