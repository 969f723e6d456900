#include <skein/message.hpp>

#include "api/misuse.hpp"
#include "api/transport/fence_units.hpp"
#include "api/transport/message_lease.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/epoch.hpp"

#include <skein/error.hpp>

namespace skein {

namespace {

using lease_handle = std::shared_ptr<api::message_lease>;

asio::awaitable<bool> ack_lease(lease_handle lease)
{
    // From here on the work counts as done: should the ack fail, a repetition at once is not
    // wanted.
    lease->is_kept = true;
    auto wanted =
        std::make_shared<api::ack_unit>(lease->transport, lease->fence, lease->held_since);
    co_return co_await runtime::await_result(lease->transport->engine, std::move(wanted));
}

asio::awaitable<bool> nack_lease(lease_handle lease, double delay)
{
    auto wanted =
        std::make_shared<api::nack_unit>(lease->transport, lease->fence, delay, lease->held_since);
    const bool is_ours =
        co_await runtime::await_result(lease->transport->engine, std::move(wanted));
    lease->is_kept = true;
    co_return is_ours;
}

asio::awaitable<bool> extend_lease(lease_handle lease, double visibility)
{
    auto wanted = std::make_shared<api::extend_unit>(lease->transport, lease->fence, visibility,
                                                     lease->held_since);
    const bool is_ours = co_await runtime::await_result(lease->transport->engine, wanted);
    if (is_ours) {
        lease->expires_at = wanted->expires_at();
    }
    co_return is_ours;
}

} // namespace

message::message() noexcept = default;

message::message(lease_handle lease) noexcept : lease_(std::move(lease)) {}

message::message(message&& other) noexcept = default;

message& message::operator=(message&& other) noexcept
{
    if (this != &other) {
        drop();
        lease_ = std::move(other.lease_);
    }
    return *this;
}

message::~message()
{
    drop();
}

/// Gives an unsettled message back. If even that cannot be asked for, the lease's end repairs it.
void message::drop() noexcept
{
    if (lease_ == nullptr || lease_->is_kept) {
        return;
    }
    try {
        lease_->transport->engine->submit(std::make_shared<api::nack_unit>(
            lease_->transport, lease_->fence, 0.0, lease_->held_since));
    } catch (...) { // NOLINT(bugprone-empty-catch): see above
    }
}

std::string_view message::payload() const noexcept
{
    return lease_->payload;
}

std::string_view message::group() const noexcept
{
    return lease_->fence.group_id;
}

std::int64_t message::seq() const noexcept
{
    return lease_->fence.seq;
}

clock::wall_time message::expires_at() const noexcept
{
    return runtime::from_epoch(lease_->expires_at);
}

asio::awaitable<bool> message::ack()
{
    lease_->transport->engine->require_outside_callback("ack(tx)");
    return ack_lease(lease_);
}

asio::awaitable<bool> message::nack(duration delay)
{
    lease_->transport->engine->require_outside_callback("nack(tx, delay)");
    return nack_lease(lease_, api::checked_delay(delay));
}

asio::awaitable<bool> message::extend(duration visibility)
{
    lease_->transport->engine->require_outside_callback("extend(tx, visibility)");
    return extend_lease(lease_, api::checked_visibility(visibility));
}

bool message::ack(transaction& tx)
{
    runtime::batch& batch = api::own_batch(tx.batch_, *lease_->transport->engine);
    api::ack_unit ack(lease_->transport, lease_->fence, lease_->held_since);
    ack.run(batch);
    batch.after_commit([lease = lease_] { lease->is_kept = true; });
    return ack.result;
}

bool message::nack(transaction& tx, duration delay)
{
    runtime::batch& batch = api::own_batch(tx.batch_, *lease_->transport->engine);
    api::nack_unit nack(lease_->transport, lease_->fence, api::checked_delay(delay),
                        lease_->held_since);
    nack.run(batch);
    batch.after_commit([lease = lease_] { lease->is_kept = true; });
    return nack.result;
}

bool message::extend(transaction& tx, duration visibility)
{
    runtime::batch& batch = api::own_batch(tx.batch_, *lease_->transport->engine);
    api::extend_unit extend(lease_->transport, lease_->fence, api::checked_visibility(visibility),
                            lease_->held_since);
    extend.run(batch);
    batch.after_commit([lease = lease_, is_ours = extend.result, end = extend.expires_at()] {
        if (is_ours) {
            lease->expires_at = end;
        }
    });
    return extend.result;
}

message_fence message::detach()
{
    lease_->is_kept = true;
    message_fence fence(lease_->fence.seq, lease_->fence.group_id, lease_->fence.locked_by);
    lease_.reset();
    return fence;
}

} // namespace skein
