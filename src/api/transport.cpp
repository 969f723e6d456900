#include <skein/transport.hpp>

#include "api/claim_waiter.hpp"
#include "api/fence_units.hpp"
#include "api/misuse.hpp"
#include "api/transport_state.hpp"
#include "runtime/awaiting.hpp"

#include <skein/error.hpp>

#include <cmath>
#include <string>

namespace skein {

namespace {

// A row holds more than the payload: the group's name, the lock, and SQLite's own record header.
constexpr std::size_t row_overhead = 1024;

// Longer than anybody waits, and short enough to be counted in nanoseconds.
constexpr duration longest_limit = std::chrono::hours{24 * 365 * 100};

void check_publish(const api::transport_state& state, std::string_view group,
                   std::string_view payload, const publish_options& options)
{
    api::checked([&] { store::require_priority("priority", options.priority); });
    const std::size_t limit = state.engine->length_limit();
    if (payload.size() + group.size() + row_overhead > limit) {
        throw error(errc::payload_too_large, "payload: " + std::to_string(payload.size()) +
                                                 " bytes; at most " +
                                                 std::to_string(limit - row_overhead) +
                                                 " bytes are accepted, the group's name included");
    }
}

class publish_unit final : public runtime::unit {
public:
    publish_unit(std::shared_ptr<const api::transport_state> where, std::string_view group,
                 std::string_view payload, const publish_options& options)
        : where_(std::move(where)), group_(group), payload_(payload), priority_(options.priority),
          routing_key_(options.routing_key)
    {
    }

    void run(runtime::batch& batch) override
    {
        where_->ready(batch).publish({group_, payload_, priority_, routing_key_});
        batch.touch(*where_->source);
    }

private:
    std::shared_ptr<const api::transport_state> where_;
    std::string group_;
    std::string payload_;
    int priority_;
    std::optional<std::string> routing_key_;
};

runtime::patience patience_of(duration limit)
{
    if (std::isnan(limit.count())) {
        throw error(errc::invalid_argument, "limit: not a number; any length of time is accepted");
    }
    if (limit >= longest_limit) {
        return {};
    }
    if (limit <= duration::zero()) {
        return {clock::steady_time::duration::zero()};
    }
    return {std::chrono::ceil<clock::steady_time::duration>(limit)};
}

asio::awaitable<std::optional<message>>
start_claim(const std::shared_ptr<const api::transport_state>& state, const claim_options& options,
            runtime::patience how_long)
{
    return runtime::await_result(state->engine,
                                 std::make_shared<api::claim_waiter>(state, options, how_long));
}

asio::awaitable<message> expect_message(asio::awaitable<std::optional<message>> claim)
{
    std::optional<message> claimed = co_await std::move(claim);
    co_return *std::move(claimed);
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
    return std::make_shared<transport_state>(transport_state{std::move(engine), std::move(source),
                                                             checked_visibility(options.visibility),
                                                             options.create_schema});
}

runtime::batch& batch_of(runtime::batch& batch, const transport_state& state)
{
    if (&batch.owner() != state.engine.get()) {
        throw error(errc::invalid_argument,
                    "tx: a transaction of another database; one of this database is accepted");
    }
    return batch;
}

} // namespace api

transport::transport(std::shared_ptr<const api::transport_state> state) noexcept
    : state_(std::move(state))
{
}

asio::awaitable<void> transport::publish(std::string_view group, std::string_view payload,
                                         publish_options options) const
{
    check_publish(*state_, group, payload, options);
    return runtime::await_operation(
        state_->engine, std::make_shared<publish_unit>(state_, group, payload, options));
}

void transport::publish(transaction& tx, std::string_view group, std::string_view payload,
                        publish_options options) const
{
    check_publish(*state_, group, payload, options);
    runtime::batch& batch = api::batch_of(tx.batch_, *state_);
    state_->ready(batch).publish({group, payload, options.priority, options.routing_key});
}

asio::awaitable<message> transport::claim(claim_options options) const
{
    return expect_message(start_claim(state_, options, {}));
}

asio::awaitable<message> transport::claim(std::string_view worker) const
{
    return claim(for_worker(worker));
}

asio::awaitable<std::optional<message>> transport::try_claim(claim_options options) const
{
    return start_claim(state_, options, patience_of(duration::zero()));
}

asio::awaitable<std::optional<message>> transport::try_claim(std::string_view worker) const
{
    return try_claim(for_worker(worker));
}

asio::awaitable<std::optional<message>> transport::claim_within(duration limit,
                                                                claim_options options) const
{
    return start_claim(state_, options, patience_of(limit));
}

asio::awaitable<std::optional<message>> transport::claim_within(duration limit,
                                                                std::string_view worker) const
{
    return claim_within(limit, for_worker(worker));
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
