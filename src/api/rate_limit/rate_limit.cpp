#include <skein/rate_limit.hpp>

#include "api/claim_arguments.hpp"
#include "api/misuse.hpp"
#include "api/rate_limit/permit_waiter.hpp"
#include "runtime/awaiting.hpp"

#include <skein/transaction.hpp>

#include <utility>

namespace skein {

namespace {

asio::awaitable<void> expect_permit(asio::awaitable<bool> wait)
{
    // Without a limit it ends with a permit, or throws.
    co_await std::move(wait);
}

} // namespace

rate_limit::rate_limit(std::shared_ptr<const api::rate_limit_state> state) noexcept
    : state_(std::move(state))
{
}

std::string_view rate_limit::name() const noexcept
{
    return state_->name;
}

asio::awaitable<bool> rate_limit::try_take() const
{
    state_->engine->require_outside_callback("try_take(tx)");
    return take_within(duration::zero());
}

bool rate_limit::try_take(transaction& tx) const
{
    return state_->take(api::own_batch(tx.batch_, *state_->engine)).is_taken;
}

asio::awaitable<void> rate_limit::take() const
{
    return expect_permit(take_within(duration::max()));
}

asio::awaitable<bool> rate_limit::take_within(duration limit) const
{
    return runtime::await_result(
        state_->engine, std::make_shared<api::permit_waiter>(state_, api::patience_of(limit)));
}

bool rate_limit::operator==(const rate_limit& other) const noexcept
{
    return state_->store == other.state_->store && state_->accepts == other.state_->accepts;
}

} // namespace skein
