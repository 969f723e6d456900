#include <skein/job.hpp>

#include "api/misuse.hpp"
#include "api/queue/finish_units.hpp"
#include "api/queue/job_lease.hpp"
#include "api/seconds.hpp"
#include "runtime/awaiting.hpp"

#include <type_traits>

namespace skein {

namespace {

using lease_handle = std::shared_ptr<api::job_lease>;
using api::finishing;

/// The result is what came of it, or whether it was done at all.
template <class Result>
asio::awaitable<Result> finish(lease_handle lease, finishing how)
{
    how.note_attempt(*lease);
    auto wanted = std::make_shared<api::finish_unit>(lease->queue, lease->fence, std::move(how),
                                                     lease->held_since);
    co_await runtime::await_operation(lease->queue->engine, wanted);
    wanted->how().note_success(*lease, wanted->result, wanted->done_at());
    if (wanted->is_stop_requested()) {
        lease->is_stop_requested = true;
    }
    if constexpr (std::is_same_v<Result, bool>) {
        co_return wanted->result != retry_outcome::stale;
    } else {
        co_return wanted->result;
    }
}

retry_outcome finish_in(runtime::batch& used, const lease_handle& lease, finishing how)
{
    runtime::batch& batch = api::own_batch(used, *lease->queue->engine);
    const std::int64_t now = api::to_seconds(batch.now());
    const retry_outcome outcome =
        how.apply_in_transaction(batch, {*lease->queue, lease->fence, lease->held_since});
    const bool is_stop_requested = how.learns_of_stop(batch, *lease->queue, lease->fence);
    batch.after_commit([lease, how = std::move(how), outcome, now, is_stop_requested] {
        how.note_success(*lease, outcome, now);
        if (is_stop_requested) {
            lease->is_stop_requested = true;
        }
    });
    return outcome;
}

} // namespace

job::job() noexcept = default;

job::job(lease_handle lease) noexcept : lease_(std::move(lease)) {}

job::job(job&& other) noexcept = default;

job& job::operator=(job&& other) noexcept
{
    if (this != &other) {
        drop();
        lease_ = std::move(other.lease_);
    }
    return *this;
}

job::~job()
{
    drop();
}

/// Gives an unsettled job back. If even that cannot be asked for, the lease's end repairs it.
void job::drop() noexcept
{
    if (lease_ == nullptr || lease_->is_kept) {
        return;
    }
    try {
        finishing how = lease_->is_looked_at ? finishing::retry({}, {}) : finishing::release();
        lease_->queue->engine->submit(std::make_shared<api::finish_unit>(
            lease_->queue, lease_->fence, std::move(how), lease_->held_since));
    } catch (...) { // NOLINT(bugprone-empty-catch): see above
    }
}

std::int64_t job::id() const noexcept
{
    return lease_->fence.id;
}

std::string_view job::queue() const noexcept
{
    return lease_->queue->name();
}

std::string_view job::payload() const noexcept
{
    lease_->is_looked_at = true;
    return lease_->payload;
}

std::int64_t job::attempt() const noexcept
{
    return *lease_->fence.attempts;
}

std::int64_t job::max_attempts() const noexcept
{
    return lease_->max_attempts;
}

clock::wall_time job::claimed_at() const noexcept
{
    return api::from_seconds(lease_->claimed_at);
}

clock::wall_time job::expires_at() const noexcept
{
    return api::from_seconds(lease_->expires_at);
}

bool job::stop_requested() const noexcept
{
    return lease_->is_stop_requested;
}

asio::awaitable<bool> job::ack()
{
    lease_->queue->engine->require_outside_callback("ack(tx)");
    return finish<bool>(lease_, finishing::ack());
}

asio::awaitable<retry_outcome> job::retry(std::chrono::seconds delay, std::string_view error)
{
    lease_->queue->engine->require_outside_callback("retry(tx, delay, error)");
    return finish<retry_outcome>(lease_, finishing::retry(delay, error));
}

asio::awaitable<bool> job::fail(std::string_view error)
{
    lease_->queue->engine->require_outside_callback("fail(tx, error)");
    return finish<bool>(lease_, finishing::fail(error));
}

asio::awaitable<bool> job::extend(std::chrono::seconds visibility)
{
    lease_->queue->engine->require_outside_callback("extend(tx, visibility)");
    return finish<bool>(lease_, finishing::extend(visibility));
}

asio::awaitable<bool> job::release()
{
    lease_->queue->engine->require_outside_callback("release(tx)");
    return finish<bool>(lease_, finishing::release());
}

asio::awaitable<bool> job::snooze(std::chrono::seconds delay)
{
    lease_->queue->engine->require_outside_callback("snooze(tx, delay)");
    return finish<bool>(lease_, finishing::snooze(delay));
}

bool job::ack(transaction& tx)
{
    return finish_in(tx.batch_, lease_, finishing::ack()) != retry_outcome::stale;
}

retry_outcome job::retry(transaction& tx, std::chrono::seconds delay, std::string_view error)
{
    return finish_in(tx.batch_, lease_, finishing::retry(delay, error));
}

bool job::fail(transaction& tx, std::string_view error)
{
    return finish_in(tx.batch_, lease_, finishing::fail(error)) != retry_outcome::stale;
}

bool job::extend(transaction& tx, std::chrono::seconds visibility)
{
    return finish_in(tx.batch_, lease_, finishing::extend(visibility)) != retry_outcome::stale;
}

bool job::release(transaction& tx)
{
    return finish_in(tx.batch_, lease_, finishing::release()) != retry_outcome::stale;
}

bool job::snooze(transaction& tx, std::chrono::seconds delay)
{
    return finish_in(tx.batch_, lease_, finishing::snooze(delay)) != retry_outcome::stale;
}

job_fence job::detach()
{
    lease_->is_kept = true;
    job_fence fence(lease_->fence.id, lease_->fence.worker_id, *lease_->fence.attempts);
    lease_.reset();
    return fence;
}

} // namespace skein
