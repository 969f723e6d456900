#include <skein/named_lock.hpp>

#include "api/claim_arguments.hpp"
#include "api/lock/lock_waiter.hpp"
#include "api/misuse.hpp"
#include "api/seconds.hpp"
#include "api/table_reading.hpp"
#include "runtime/awaiting.hpp"

#include <skein/error.hpp>

namespace skein {

namespace {

asio::awaitable<std::optional<lock_guard>>
start_wait(const std::shared_ptr<const api::named_lock_state>& lock, runtime::patience how_long)
{
    return runtime::await_result(lock->engine, std::make_shared<api::lock_waiter>(lock, how_long));
}

asio::awaitable<lock_guard> expect_guard(asio::awaitable<std::optional<lock_guard>> wait)
{
    std::optional<lock_guard> guard = co_await std::move(wait);
    co_return *std::move(guard);
}

lock_holder public_holder(store::lock_state found)
{
    return {std::move(found.owner), api::from_seconds(found.expires_at), found.fence};
}

} // namespace

std::shared_ptr<const api::named_lock_state>
api::make_named_lock_state(std::shared_ptr<runtime::engine> engine, std::string_view name,
                           const lock_options& options)
{
    if (options.ttl.count() <= 0) {
        throw error(errc::invalid_argument, "ttl: " + std::to_string(options.ttl.count()) +
                                                " s is not accepted; more than zero is");
    }
    auto store = engine->source_named<lock_store>("locks");
    std::string owner(options.owner.empty() ? engine->worker_id() : options.owner);
    return std::make_shared<named_lock_state>(
        named_lock_state{std::move(engine), std::move(store), std::string(name), std::move(owner),
                         options.ttl.count(), options.create_schema});
}

named_lock::named_lock(std::shared_ptr<const api::named_lock_state> state) noexcept
    : state_(std::move(state))
{
}

std::string_view named_lock::name() const noexcept
{
    return state_->name;
}

asio::awaitable<lock_guard> named_lock::acquire() const
{
    return expect_guard(start_wait(state_, {}));
}

asio::awaitable<std::optional<lock_guard>> named_lock::acquire_within(duration limit) const
{
    return start_wait(state_, api::patience_of(limit));
}

asio::awaitable<std::optional<lock_guard>> named_lock::try_acquire() const
{
    state_->engine->require_outside_callback("try_acquire(tx)");
    return acquire_within(duration::zero());
}

std::optional<lock_guard> named_lock::try_acquire(transaction& tx) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    std::shared_ptr<api::held_lock> held = api::make_holder(state_);
    if (api::held_lock::take(held, batch)) {
        return std::nullopt;
    }
    return api::held_lock::make_guard(std::move(held));
}

asio::awaitable<std::optional<lock_holder>> named_lock::holder() const
{
    return api::read_tables(state_->engine, state_->store, state_->create_schema,
                            [name = state_->name](store::named_locks& there, std::int64_t now) {
                                std::optional<store::lock_state> found = there.find(name);
                                const bool is_held = found && found->expires_at > now;
                                return is_held ? std::optional(public_holder(*std::move(found)))
                                               : std::nullopt;
                            });
}

bool named_lock::operator==(const named_lock& other) const noexcept
{
    return state_->store == other.state_->store && state_->name == other.state_->name;
}

} // namespace skein
