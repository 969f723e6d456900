#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "api/queue/due_time.hpp"
#include "api/queue/queue_state.hpp"
#include "api/seconds.hpp"
#include "api/slices.hpp"
#include "api/small_unit.hpp"

#include <skein/queue.hpp>

#include <string>
#include <utility>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::queue_state>;

/// A change with a payload of its own.
struct owned_change {
    std::string payload;
    store::job_change change;

    [[nodiscard]] store::job_change stored() const
    {
        store::job_change wanted = change;
        if (wanted.payload) {
            wanted.payload = payload;
        }
        return wanted;
    }
};

owned_change checked_change(const api::queue_state& queue, const job_change& wanted)
{
    if (wanted.payload) {
        api::require_room(*queue.engine, *wanted.payload, queue.name());
    }
    const api::due_time due(wanted.delay, wanted.run_at);
    const store::job_change change{.payload = wanted.payload,
                                   .priority = wanted.priority,
                                   .run_at = due.run_at(),
                                   .delay = due.delay()};
    api::checked([&] { store::require_change(change); });
    return {std::string(wanted.payload.value_or("")), change};
}

bool change_in(const api::queue_state& queue, runtime::batch& batch, std::int64_t id,
               const owned_change& wanted)
{
    const bool has_changed = queue.ready(batch).changer.change(queue.name(), id, wanted.stored(),
                                                               api::to_seconds(batch.now()));
    if (has_changed) {
        batch.touch(*queue.source);
    }
    return has_changed;
}

bool request_stop_in(const api::queue_state& queue, runtime::batch& batch, std::int64_t id)
{
    static_cast<void>(queue.ready(batch)); // the triggers stand on its tables
    return queue.features->stops.ready(batch, queue.create_schema)
        .requests.request(queue.name(), id);
}

store::queue_pauses& pauses_of(const api::queue_state& queue, runtime::batch& batch)
{
    static_cast<void>(queue.ready(batch)); // the triggers stand on its tables
    return queue.features->held.ready(batch, queue.create_schema).pauses;
}

/// Of a pause, or of its end: whether it changes anything, and how many jobs it has moved so far.
struct first_slice {
    bool has_changed = false;
    std::int64_t moved = 0;
};

std::int64_t move_slice(const api::queue_state& queue, runtime::batch& batch)
{
    batch.touch(*queue.source);
    return pauses_of(queue, batch).move_slice(queue.name(), api::most_in_slice);
}

/// `toggle` begins it, in the same commit as the first slice.
asio::awaitable<bool> move_jobs(state_handle queue,
                                bool (store::queue_pauses::*toggle)(std::string_view))
{
    auto begin = [queue, toggle](runtime::batch& batch) {
        const bool has_changed = (pauses_of(*queue, batch).*toggle)(queue->name());
        return first_slice{has_changed, move_slice(*queue, batch)};
    };
    auto go_on = [queue](runtime::batch& batch) { return move_slice(*queue, batch); };
    const first_slice first = co_await api::write(queue->engine, begin);
    std::int64_t moved = first.moved;
    while (moved == api::most_in_slice) {
        moved = co_await api::write(queue->engine, go_on);
    }
    co_return first.has_changed;
}

} // namespace

asio::awaitable<bool> queue::change(std::int64_t id, job_change wanted) const
{
    state_->engine->require_outside_callback("change(tx, id, change)");
    return api::write(state_->engine,
                      [state = state_, id, change = checked_change(*state_, wanted)](
                          runtime::batch& batch) { return change_in(*state, batch, id, change); });
}

bool queue::change(transaction& tx, std::int64_t id, job_change wanted) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    const owned_change change = checked_change(*state_, wanted);
    return state_->ready(batch).savepoint.run(
        [&] { return change_in(*state_, batch, id, change); });
}

asio::awaitable<bool> queue::request_stop(std::int64_t id) const
{
    state_->engine->require_outside_callback("request_stop(tx, id)");
    return api::write(state_->engine, [state = state_, id](runtime::batch& batch) {
        return request_stop_in(*state, batch, id);
    });
}

bool queue::request_stop(transaction& tx, std::int64_t id) const
{
    return request_stop_in(*state_, api::own_batch(tx.batch_, *state_->engine), id);
}

asio::awaitable<bool> queue::pause() const
{
    state_->engine->require_outside_callback();
    return move_jobs(state_, &store::queue_pauses::pause);
}

asio::awaitable<bool> queue::resume() const
{
    state_->engine->require_outside_callback();
    return move_jobs(state_, &store::queue_pauses::resume);
}

} // namespace skein
