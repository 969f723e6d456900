#include <skein/queue.hpp>

#include "api/misuse.hpp"
#include "api/queue/enqueue_unit.hpp"
#include "api/queue/finish_units.hpp"
#include "runtime/awaiting.hpp"

#include <skein/queue_choice.hpp>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::queue_state>;
using api::finishing;

/// One coroutine less than by way of many: this is the hot path.
asio::awaitable<enqueued_job> enqueue_one(std::shared_ptr<runtime::engine> engine,
                                          std::shared_ptr<api::enqueue_unit> wanted)
{
    co_await runtime::await_operation(std::move(engine), wanted);
    co_return wanted->result.front();
}

store::job_fence stored(const job_fence& fence)
{
    return {fence.id(), fence.worker(), fence.attempt()};
}

std::shared_ptr<api::finish_unit> make_unit(const state_handle& state, const job_fence& fence,
                                            finishing how)
{
    return std::make_shared<api::finish_unit>(state, stored(fence), std::move(how));
}

asio::awaitable<bool> has_acted(asio::awaitable<retry_outcome> finished)
{
    const retry_outcome outcome = co_await std::move(finished);
    co_return outcome != retry_outcome::stale;
}

asio::awaitable<bool> finish(const state_handle& state, const job_fence& fence, finishing how)
{
    return has_acted(runtime::await_result(state->engine, make_unit(state, fence, std::move(how))));
}

asio::awaitable<std::vector<retry_outcome>>
run_finishing(std::shared_ptr<runtime::engine> engine,
              std::shared_ptr<api::finish_many_unit> wanted)
{
    wanted->note_attempt();
    co_return co_await runtime::await_result(std::move(engine), std::move(wanted));
}

asio::awaitable<std::vector<retry_outcome>> finish_many(const state_handle& state,
                                                        std::span<const job> jobs, finishing how)
{
    state->engine->require_outside_callback();
    return run_finishing(state->engine,
                         std::make_shared<api::finish_many_unit>(*state, jobs, std::move(how)));
}

asio::awaitable<std::vector<bool>> have_acted(asio::awaitable<std::vector<retry_outcome>> finished)
{
    const std::vector<retry_outcome> outcomes = co_await std::move(finished);
    std::vector<bool> acted;
    acted.reserve(outcomes.size());
    for (const retry_outcome each : outcomes) {
        acted.push_back(each != retry_outcome::stale);
    }
    co_return acted;
}

} // namespace

queue::queue(std::shared_ptr<const api::queue_state> state) noexcept : state_(std::move(state)) {}

std::string_view queue::name() const noexcept
{
    return state_->name();
}

asio::awaitable<enqueued_job> queue::enqueue(std::string_view payload,
                                             enqueue_options options) const
{
    state_->engine->require_outside_callback("enqueue(tx, payload)");
    const new_job one{payload, options};
    return enqueue_one(state_->engine,
                       std::make_shared<api::enqueue_unit>(state_, std::span(&one, 1)));
}

enqueued_job queue::enqueue(transaction& tx, std::string_view payload,
                            enqueue_options options) const
{
    const new_job one{payload, options};
    return enqueue_many(tx, {&one, 1}).front();
}

asio::awaitable<std::vector<enqueued_job>> queue::enqueue_many(std::span<const new_job> jobs) const
{
    state_->engine->require_outside_callback("enqueue_many(tx, jobs)");
    return runtime::await_result(state_->engine, std::make_shared<api::enqueue_unit>(state_, jobs));
}

std::vector<enqueued_job> queue::enqueue_many(transaction& tx, std::span<const new_job> jobs) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    api::enqueue_unit unit(state_, jobs);
    return state_->ready(batch).savepoint.run([&] {
        unit.run(batch);
        return std::move(unit.result);
    });
}

asio::awaitable<job> queue::claim(job_claim_options options) const
{
    return alone().claim(options);
}

asio::awaitable<job> queue::claim(std::string_view worker) const
{
    return alone().claim(worker);
}

asio::awaitable<std::optional<job>> queue::try_claim(job_claim_options options) const
{
    return alone().try_claim(options);
}

asio::awaitable<std::optional<job>> queue::try_claim(std::string_view worker) const
{
    return alone().try_claim(worker);
}

asio::awaitable<std::optional<job>> queue::claim_within(duration limit,
                                                        job_claim_options options) const
{
    return alone().claim_within(limit, options);
}

asio::awaitable<std::optional<job>> queue::claim_within(duration limit,
                                                        std::string_view worker) const
{
    return alone().claim_within(limit, worker);
}

asio::awaitable<std::vector<job>> queue::claim_many(std::size_t most,
                                                    job_claim_options options) const
{
    return alone().claim_many(most, options);
}

asio::awaitable<std::vector<job>> queue::try_claim_many(std::size_t most,
                                                        job_claim_options options) const
{
    return alone().try_claim_many(most, options);
}

asio::awaitable<std::vector<job>> queue::claim_many_within(duration limit, std::size_t most,
                                                           job_claim_options options) const
{
    return alone().claim_many_within(limit, most, options);
}

/// The choice of one, whose claims are the queue's.
queue_choice queue::alone() const
{
    return queue_choice(std::make_shared<api::queue_choice_state>(state_));
}

asio::awaitable<std::vector<bool>> queue::ack_many(std::span<const job> jobs) const
{
    return have_acted(finish_many(state_, jobs, finishing::ack()));
}

asio::awaitable<std::vector<retry_outcome>> queue::retry_many(std::span<const job> jobs,
                                                              std::chrono::seconds delay,
                                                              std::string_view error) const
{
    return finish_many(state_, jobs, finishing::retry(delay, error));
}

asio::awaitable<std::vector<bool>> queue::fail_many(std::span<const job> jobs,
                                                    std::string_view error) const
{
    return have_acted(finish_many(state_, jobs, finishing::fail(error)));
}

asio::awaitable<std::vector<bool>> queue::extend_many(std::span<const job> jobs,
                                                      std::chrono::seconds visibility) const
{
    return have_acted(finish_many(state_, jobs, finishing::extend(visibility)));
}

asio::awaitable<std::vector<bool>> queue::release_many(std::span<const job> jobs) const
{
    return have_acted(finish_many(state_, jobs, finishing::release()));
}

asio::awaitable<std::vector<bool>> queue::snooze_many(std::span<const job> jobs,
                                                      std::chrono::seconds delay) const
{
    return have_acted(finish_many(state_, jobs, finishing::snooze(delay)));
}

asio::awaitable<bool> queue::ack(const job_fence& fence) const
{
    return finish(state_, fence, finishing::ack());
}

asio::awaitable<retry_outcome> queue::retry(const job_fence& fence, std::chrono::seconds delay,
                                            std::string_view error) const
{
    return runtime::await_result(state_->engine,
                                 make_unit(state_, fence, finishing::retry(delay, error)));
}

asio::awaitable<bool> queue::fail(const job_fence& fence, std::string_view error) const
{
    return finish(state_, fence, finishing::fail(error));
}

asio::awaitable<bool> queue::extend(const job_fence& fence, std::chrono::seconds visibility) const
{
    return finish(state_, fence, finishing::extend(visibility));
}

asio::awaitable<bool> queue::release(const job_fence& fence) const
{
    return finish(state_, fence, finishing::release());
}

asio::awaitable<bool> queue::snooze(const job_fence& fence, std::chrono::seconds delay) const
{
    return finish(state_, fence, finishing::snooze(delay));
}

bool queue::operator==(const queue& other) const noexcept
{
    return state_->source == other.state_->source;
}

} // namespace skein
