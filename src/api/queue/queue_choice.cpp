#include <skein/queue_choice.hpp>

#include "api/claim_arguments.hpp"
#include "api/queue/job_claim_waiter.hpp"
#include "runtime/awaiting.hpp"

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::queue_choice_state>;

asio::awaitable<std::vector<job>> start_claim(const state_handle& state, std::size_t most,
                                              const job_claim_options& options,
                                              runtime::patience how_long)
{
    return runtime::await_result(
        state->engine(), std::make_shared<api::job_claim_waiter>(state, most, options, how_long));
}

asio::awaitable<job> expect_job(asio::awaitable<std::vector<job>> claim)
{
    std::vector<job> claimed = co_await std::move(claim);
    co_return std::move(claimed.front());
}

asio::awaitable<std::optional<job>> first_job(asio::awaitable<std::vector<job>> claim)
{
    std::vector<job> claimed = co_await std::move(claim);
    if (claimed.empty()) {
        co_return std::nullopt;
    }
    co_return std::move(claimed.front());
}

job_claim_options for_worker(std::string_view worker)
{
    job_claim_options options;
    options.worker = worker;
    return options;
}

std::shared_ptr<const api::queue_choice_state>
make_state(std::vector<std::shared_ptr<const api::queue_state>> queues)
{
    return std::make_shared<api::queue_choice_state>(std::move(queues));
}

} // namespace

queue_choice::queue_choice(std::shared_ptr<const api::queue_choice_state> state) noexcept
    : state_(std::move(state))
{
}

queue_choice::queue_choice(std::span<const queue> queues)
{
    std::vector<std::shared_ptr<const api::queue_state>> states;
    for (const queue& each : queues) {
        states.push_back(each.state_);
    }
    state_ = make_state(std::move(states));
}

queue_choice::queue_choice(std::initializer_list<queue> queues)
    : queue_choice(std::span<const queue>(queues.begin(), queues.size()))
{
}

asio::awaitable<job> queue_choice::claim(job_claim_options options) const
{
    return expect_job(start_claim(state_, 1, options, {}));
}

asio::awaitable<job> queue_choice::claim(std::string_view worker) const
{
    return claim(for_worker(worker));
}

asio::awaitable<std::optional<job>> queue_choice::try_claim(job_claim_options options) const
{
    return claim_within(duration::zero(), options);
}

asio::awaitable<std::optional<job>> queue_choice::try_claim(std::string_view worker) const
{
    return try_claim(for_worker(worker));
}

asio::awaitable<std::optional<job>> queue_choice::claim_within(duration limit,
                                                               job_claim_options options) const
{
    return first_job(start_claim(state_, 1, options, api::patience_of(limit)));
}

asio::awaitable<std::optional<job>> queue_choice::claim_within(duration limit,
                                                               std::string_view worker) const
{
    return claim_within(limit, for_worker(worker));
}

asio::awaitable<std::vector<job>> queue_choice::claim_many(std::size_t most,
                                                           job_claim_options options) const
{
    return start_claim(state_, most, options, {});
}

asio::awaitable<std::vector<job>> queue_choice::try_claim_many(std::size_t most,
                                                               job_claim_options options) const
{
    return claim_many_within(duration::zero(), most, options);
}

asio::awaitable<std::vector<job>> queue_choice::claim_many_within(duration limit, std::size_t most,
                                                                  job_claim_options options) const
{
    return start_claim(state_, most, options, api::patience_of(limit));
}

} // namespace skein
