#include "api/misuse.hpp"
#include "api/transport/transport_state.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/epoch.hpp"
#include "runtime/unit.hpp"
#include "store/transport/unprefixed_transport.hpp"

#include <skein/error.hpp>
#include <skein/transport.hpp>

#include <string>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::transport_state>;

/// What is done with a transport beside publishing and claiming; may free groups.
template <class Work>
class upkeep_unit final : public runtime::unit {
public:
    using result_type = std::invoke_result_t<Work&, const api::transport_state&, runtime::batch&>;

    upkeep_unit(state_handle where, Work work) : where_(std::move(where)), work_(std::move(work)) {}

    void run(runtime::batch& batch) override
    {
        result = work_(*where_, batch);
        batch.touch(*where_->source);
    }

    result_type result{};

private:
    state_handle where_;
    Work work_;
};

template <class Work>
auto start(const state_handle& state, Work work)
{
    return runtime::await_result(state->engine,
                                 std::make_shared<upkeep_unit<Work>>(state, std::move(work)));
}

bool unpark_in(const api::transport_state& state, runtime::batch& batch, std::string_view group)
{
    return state.source->parked(batch, state.create_schema)
        .unpark(group, runtime::to_epoch(batch.now()));
}

repair_result repair_in(const api::transport_state& state, runtime::batch& batch)
{
    const store::repaired_groups repaired = state.source->repair(batch, state.create_schema).run();
    return {static_cast<std::size_t>(repaired.orphans), static_cast<std::size_t>(repaired.ghosts)};
}

void require_own_schema(const api::transport_state& state)
{
    if (!state.create_schema) {
        throw error(errc::invalid_argument,
                    "create_schema: false leaves the tables to somebody else; a transport that "
                    "makes its own is accepted");
    }
}

bool adopt_in(const api::transport_state& state, runtime::batch& batch)
{
    return store::adopt_unprefixed(batch.connection(), state.source->names());
}

} // namespace

asio::awaitable<bool> transport::unpark(std::string_view group) const
{
    state_->engine->require_outside_callback("unpark(tx, group)");
    return start(state_, [group = std::string(group)](const auto& state, runtime::batch& batch) {
        return unpark_in(state, batch, group);
    });
}

bool transport::unpark(transaction& tx, std::string_view group) const
{
    return unpark_in(*state_, api::own_batch(tx.batch_, *state_->engine), group);
}

asio::awaitable<repair_result> transport::repair() const
{
    state_->engine->require_outside_callback("repair(tx)");
    return start(state_,
                 [](const auto& state, runtime::batch& batch) { return repair_in(state, batch); });
}

repair_result transport::repair(transaction& tx) const
{
    return repair_in(*state_, api::own_batch(tx.batch_, *state_->engine));
}

asio::awaitable<bool> transport::adopt_unprefixed_tables() const
{
    state_->engine->require_outside_callback("adopt_unprefixed_tables(tx)");
    require_own_schema(*state_);
    return start(state_,
                 [](const auto& state, runtime::batch& batch) { return adopt_in(state, batch); });
}

bool transport::adopt_unprefixed_tables(transaction& tx) const
{
    require_own_schema(*state_);
    return adopt_in(*state_, api::own_batch(tx.batch_, *state_->engine));
}

} // namespace skein
