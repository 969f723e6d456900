#include <skein/transport.hpp>

#include "api/claim_arguments.hpp"
#include "api/misuse.hpp"
#include "api/transport/claim_waiter.hpp"
#include "api/transport/fence_units.hpp"
#include "api/transport/message_lease.hpp"
#include "api/transport/publish_unit.hpp"
#include "api/transport/transport_state.hpp"
#include "runtime/awaiting.hpp"

#include <skein/error.hpp>

#include <string>

namespace skein {

namespace {

asio::awaitable<std::vector<message>>
start_claim(const std::shared_ptr<const api::transport_state>& state, std::size_t most,
            const claim_options& options, runtime::patience how_long)
{
    return runtime::await_result(
        state->engine, std::make_shared<api::claim_waiter>(state, most, options, how_long));
}

asio::awaitable<message> expect_message(asio::awaitable<std::vector<message>> claim)
{
    std::vector<message> claimed = co_await std::move(claim);
    co_return std::move(claimed.front());
}

asio::awaitable<std::optional<message>> first_message(asio::awaitable<std::vector<message>> claim)
{
    std::vector<message> claimed = co_await std::move(claim);
    if (claimed.empty()) {
        co_return std::nullopt;
    }
    co_return std::move(claimed.front());
}

asio::awaitable<std::vector<bool>> ack_all(std::shared_ptr<runtime::engine> engine,
                                           std::shared_ptr<api::ack_many_unit> wanted)
{
    // From here on the work counts as done: should the ack fail, a repetition at once is not
    // wanted.
    wanted->keep_leases();
    co_return co_await runtime::await_result(std::move(engine), std::move(wanted));
}

store::message_fence stored(const message_fence& fence)
{
    return {fence.seq(), fence.group(), fence.token()};
}

claim_options for_worker(std::string_view worker)
{
    claim_options options;
    options.worker = worker;
    return options;
}

} // namespace

namespace api {

std::shared_ptr<const transport_state> make_transport_state(std::shared_ptr<runtime::engine> engine,
                                                            const transport_options& options)
{
    const store::transport_names names =
        checked([&] { return store::transport_names(options.prefix); });
    auto source = engine->source_named<transport_source>("transport " + names.key, names);
    return std::make_shared<transport_state>(transport_state{
        std::move(engine), std::move(source), checked_visibility(options.visibility),
        options.create_schema, options.fair_turns});
}

} // namespace api

transport::transport(std::shared_ptr<const api::transport_state> state) noexcept
    : state_(std::move(state))
{
}

asio::awaitable<void> transport::publish(std::string_view group, std::string_view payload,
                                         publish_options options) const
{
    state_->engine->require_outside_callback("publish(tx, group, payload)");
    const publication one{group, payload, options};
    return publish_many({&one, 1});
}

void transport::publish(transaction& tx, std::string_view group, std::string_view payload,
                        publish_options options) const
{
    const publication one{group, payload, options};
    publish_many(tx, {&one, 1});
}

asio::awaitable<void> transport::publish_many(std::span<const publication> publications) const
{
    state_->engine->require_outside_callback("publish_many(tx, publications)");
    return runtime::await_operation(state_->engine,
                                    std::make_shared<api::publish_unit>(state_, publications));
}

void transport::publish_many(transaction& tx, std::span<const publication> publications) const
{
    api::publish(*state_, api::own_batch(tx.batch_, *state_->engine), publications);
}

asio::awaitable<message> transport::claim(claim_options options) const
{
    return expect_message(start_claim(state_, 1, options, {}));
}

asio::awaitable<message> transport::claim(std::string_view worker) const
{
    return claim(for_worker(worker));
}

asio::awaitable<std::optional<message>> transport::try_claim(claim_options options) const
{
    return first_message(start_claim(state_, 1, options, api::patience_of(duration::zero())));
}

asio::awaitable<std::optional<message>> transport::try_claim(std::string_view worker) const
{
    return try_claim(for_worker(worker));
}

asio::awaitable<std::optional<message>> transport::claim_within(duration limit,
                                                                claim_options options) const
{
    return first_message(start_claim(state_, 1, options, api::patience_of(limit)));
}

asio::awaitable<std::optional<message>> transport::claim_within(duration limit,
                                                                std::string_view worker) const
{
    return claim_within(limit, for_worker(worker));
}

asio::awaitable<std::vector<message>> transport::claim_many(std::size_t most,
                                                            claim_options options) const
{
    return start_claim(state_, most, options, {});
}

asio::awaitable<std::vector<message>> transport::try_claim_many(std::size_t most,
                                                                claim_options options) const
{
    return start_claim(state_, most, options, api::patience_of(duration::zero()));
}

asio::awaitable<std::vector<message>> transport::claim_many_within(duration limit, std::size_t most,
                                                                   claim_options options) const
{
    return start_claim(state_, most, options, api::patience_of(limit));
}

asio::awaitable<std::vector<bool>> transport::ack_many(std::span<const message> messages) const
{
    state_->engine->require_outside_callback("ack_many(tx, messages)");
    return ack_all(state_->engine, std::make_shared<api::ack_many_unit>(*state_, messages));
}

std::vector<bool> transport::ack_many(transaction& tx, std::span<const message> messages) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    const auto wanted = std::make_shared<api::ack_many_unit>(*state_, messages);
    wanted->run(batch);
    batch.after_commit([wanted] { wanted->keep_leases(); });
    return wanted->result;
}

asio::awaitable<bool> transport::ack(const message_fence& fence) const
{
    return runtime::await_result(state_->engine,
                                 std::make_shared<api::ack_unit>(state_, stored(fence)));
}

asio::awaitable<bool> transport::nack(const message_fence& fence, duration delay) const
{
    return runtime::await_result(
        state_->engine,
        std::make_shared<api::nack_unit>(state_, stored(fence), api::checked_delay(delay)));
}

asio::awaitable<bool> transport::extend(const message_fence& fence, duration visibility) const
{
    return runtime::await_result(
        state_->engine, std::make_shared<api::extend_unit>(state_, stored(fence),
                                                           api::checked_visibility(visibility)));
}

bool transport::operator==(const transport& other) const noexcept
{
    return state_->engine == other.state_->engine && state_->source == other.state_->source;
}

} // namespace skein
