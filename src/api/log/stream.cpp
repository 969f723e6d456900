#include <skein/stream.hpp>

#include "api/claim_arguments.hpp"
#include "api/database_owner.hpp"
#include "api/log/consumer_place.hpp"
#include "api/log/publish_events.hpp"
#include "api/log/stream_store.hpp"
#include "api/misuse.hpp"
#include "api/table_reading.hpp"
#include "runtime/awaiting.hpp"

#include <skein/database.hpp>
#include <skein/error.hpp>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::stream_state>;

asio::awaitable<std::vector<std::int64_t>> start_publishing(const state_handle& state,
                                                            std::span<const new_event> events)
{
    return runtime::await_result(state->engine,
                                 std::make_shared<api::publish_events>(state, events));
}

asio::awaitable<std::int64_t> expect_one(asio::awaitable<std::vector<std::int64_t>> publishing)
{
    const std::vector<std::int64_t> offsets = co_await std::move(publishing);
    co_return offsets.front();
}

template <class Look>
auto look(const state_handle& state, Look look)
{
    return api::read_tables(state->engine, state->store, state->create_schema, std::move(look));
}

} // namespace

stream::stream(std::shared_ptr<const api::stream_state> state) noexcept : state_(std::move(state))
{
}

skein::stream database::stream(std::string_view topic, const stream_options& options) const
{
    const std::shared_ptr<runtime::engine>& engine = owner_->engine();
    return skein::stream(std::make_shared<api::stream_state>(api::stream_state{
        {engine, api::stream_store_of(*engine), std::string(topic), options.create_schema}}));
}

std::string_view stream::topic() const noexcept
{
    return state_->topic();
}

asio::awaitable<std::int64_t> stream::publish(std::string_view payload) const
{
    state_->engine->require_outside_callback("publish(tx, payload)");
    return publish(std::nullopt, payload);
}

asio::awaitable<std::int64_t> stream::publish(std::optional<std::string_view> key,
                                              std::string_view payload) const
{
    state_->engine->require_outside_callback("publish(tx, key, payload)");
    const new_event event{key, payload};
    return expect_one(start_publishing(state_, {&event, 1}));
}

std::int64_t stream::publish(transaction& tx, std::string_view payload) const
{
    return publish(tx, std::nullopt, payload);
}

std::int64_t stream::publish(transaction& tx, std::optional<std::string_view> key,
                             std::string_view payload) const
{
    const new_event event{key, payload};
    return publish_many(tx, {&event, 1}).front();
}

asio::awaitable<std::vector<std::int64_t>>
stream::publish_many(std::span<const new_event> events) const
{
    state_->engine->require_outside_callback("publish_many(tx, events)");
    return start_publishing(state_, events);
}

std::vector<std::int64_t> stream::publish_many(transaction& tx,
                                               std::span<const new_event> events) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    api::publish_events unit(state_, events);
    unit.run(batch);
    return std::move(unit.result);
}

asio::awaitable<std::vector<stream_event>> stream::read_since(std::int64_t offset,
                                                              std::size_t most) const
{
    state_->engine->require_outside_callback("read_since(tx, offset)");
    const auto limit = static_cast<std::int64_t>(api::checked_most(most));
    const auto read = [state = state_, offset, limit](store::streams& there, std::int64_t /*now*/) {
        return api::public_events(there.read_since(state->topic(), offset, limit));
    };
    return look(state_, read);
}

std::vector<stream_event> stream::read_since(transaction& tx, std::int64_t offset,
                                             std::size_t most) const
{
    const auto limit = static_cast<std::int64_t>(api::checked_most(most));
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    return api::public_events(state_->ready(batch).read_since(state_->topic(), offset, limit));
}

asio::awaitable<std::int64_t> stream::first_offset() const
{
    return look(state_, [state = state_](store::streams& there, std::int64_t /*now*/) {
        return there.first_offset(state->topic());
    });
}

asio::awaitable<std::int64_t> stream::last_offset() const
{
    return look(state_, [state = state_](store::streams& there, std::int64_t /*now*/) {
        return there.last_offset(state->topic());
    });
}

asio::awaitable<skein::consumer> stream::consumer(std::string_view name,
                                                  consumer_options options) const
{
    state_->engine->require_outside_callback();
    if (options.behind && options.start != consumer_start::saved_or_first) {
        throw error(errc::invalid_argument,
                    "start and behind: both are given; one of them is accepted");
    }
    return api::consumer_place::make(state_, std::string(name), options);
}

bool stream::operator==(const stream& other) const noexcept
{
    return state_->store == other.state_->store && state_->topic() == other.state_->topic();
}

} // namespace skein
