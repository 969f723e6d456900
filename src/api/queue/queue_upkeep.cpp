#include "api/database_owner.hpp"
#include "api/misuse.hpp"
#include "api/queue/job_events.hpp"
#include "api/queue/queue_state.hpp"
#include "api/seconds.hpp"
#include "api/small_unit.hpp"

#include <skein/database.hpp>
#include <skein/queue.hpp>

namespace skein {

namespace {

bool cancel_in(const api::queue_state& queue, runtime::batch& batch, std::int64_t id)
{
    const bool is_cancelled = queue.ready(batch).canceller.cancel(queue.name(), id);
    if (is_cancelled) {
        api::queue_store::touch_end(batch, id);
        batch.touch(*queue.source); // another job of its key may have got its place
        api::note_cancelled(batch, queue.name(), id);
    }
    return is_cancelled;
}

/// Tables that are good enough stay as they are: whether they are ours is told to queues only.
api::queue_statements& statements_at_hand(api::queue_store& store, runtime::batch& batch)
{
    if (api::queue_statements* const opened = store.opened()) {
        return *opened;
    }
    const bool is_plain = store::inspect_queue(batch.connection()) == store::queue_shape::plain;
    return store.ready(batch, !is_plain);
}

bool cancel_anywhere(api::queue_store& store, runtime::batch& batch, std::int64_t id)
{
    api::queue_statements& there = statements_at_hand(store, batch);
    // Afterwards nobody can tell its queue.
    const auto live = batch.is_observed() ? there.inspection.find_live(id) : std::nullopt;
    const bool is_cancelled = there.canceller.cancel(id);
    if (is_cancelled) {
        api::queue_store::touch_end(batch, id);
        batch.touch_everything(); // as above, in a queue that nobody names
        api::note_cancelled(batch, live ? live->queue : std::string(), id);
    }
    return is_cancelled;
}

std::size_t sweep_in(const api::queue_state& queue, runtime::batch& batch)
{
    const std::int64_t swept =
        queue.ready(batch).housekeeping.sweep_expired(queue.name(), api::to_seconds(batch.now()));
    if (swept != 0) {
        batch.touch(*queue.store);
        batch.touch(*queue.source);
    }
    api::note_buried(batch, *queue.source, queue.ready(batch).housekeeping.buried());
    return static_cast<std::size_t>(swept);
}

} // namespace

asio::awaitable<bool> queue::cancel(std::int64_t id) const
{
    state_->engine->require_outside_callback("cancel(tx, id)");
    return api::write(state_->engine, [state = state_, id](runtime::batch& batch) {
        return cancel_in(*state, batch, id);
    });
}

bool queue::cancel(transaction& tx, std::int64_t id) const
{
    return cancel_in(*state_, api::own_batch(tx.batch_, *state_->engine), id);
}

asio::awaitable<std::size_t> queue::sweep_expired() const
{
    state_->engine->require_outside_callback("sweep_expired(tx)");
    return api::write(state_->engine,
                      [state = state_](runtime::batch& batch) { return sweep_in(*state, batch); });
}

std::size_t queue::sweep_expired(transaction& tx) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    return state_->ready(batch).savepoint.run([&] { return sweep_in(*state_, batch); });
}

asio::awaitable<bool> database::cancel_job(std::int64_t id) const
{
    owner_->engine()->require_outside_callback("cancel_job(tx, id)");
    const std::shared_ptr<runtime::engine>& engine = owner_->engine();
    return api::write(engine, [store = api::queue_store_of(*engine), id](runtime::batch& batch) {
        return cancel_anywhere(*store, batch, id);
    });
}

bool database::cancel_job(skein::transaction& tx, std::int64_t id) const
{
    runtime::engine& engine = *owner_->engine();
    return cancel_anywhere(*api::queue_store_of(engine), api::own_batch(tx.batch_, engine), id);
}

} // namespace skein
