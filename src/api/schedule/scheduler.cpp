#include <skein/scheduler.hpp>

#include "api/misuse.hpp"
#include "api/schedule/schedule_arguments.hpp"
#include "api/schedule/scheduler_run.hpp"
#include "api/schedule/scheduler_state.hpp"
#include "api/schedule/shown_schedule.hpp"
#include "api/seconds.hpp"
#include "api/small_unit.hpp"
#include "api/table_reading.hpp"

#include <utility>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::scheduler_state>;

/// Runs `work(rows, now)`, which returns whether it has changed a schedule: who waits has to look
/// then.
template <class Work>
bool apply(const api::scheduler_state& where, runtime::batch& batch, const Work& work)
{
    const bool has_changed = work(where.ready(batch).rows, api::to_seconds(batch.now()));
    if (has_changed) {
        batch.touch(*where.store);
    }
    return has_changed;
}

template <class Work>
asio::awaitable<bool> change(const state_handle& where, Work work)
{
    return api::write(where->engine, [where, work = std::move(work)](runtime::batch& batch) {
        return apply(*where, batch, work);
    });
}

template <class Work>
bool change(const state_handle& where, runtime::batch& batch, const Work& work)
{
    return api::checked([&] {
        return where->ready(batch).savepoint.run([&] { return apply(*where, batch, work); });
    });
}

asio::awaitable<void> expect_change(asio::awaitable<bool> change)
{
    // To add a schedule changes one, or throws.
    co_await std::move(change);
}

// What each verb does, for both of its forms.

auto adding(api::owned_schedule added)
{
    return [added = std::move(added)](store::schedules& rows, std::int64_t now) {
        rows.register_schedule(added.stored(), now);
        return true;
    };
}

auto updating(api::owned_change wanted)
{
    return [wanted = std::move(wanted)](store::schedules& rows, std::int64_t now) {
        return rows.update(wanted.name(), wanted.stored(), now);
    };
}

auto removing(std::string_view name)
{
    return [name = std::string(name)](store::schedules& rows, std::int64_t /*now*/) {
        return rows.unregister(name);
    };
}

auto pausing(std::string_view name)
{
    return [name = std::string(name)](store::schedules& rows, std::int64_t /*now*/) {
        return rows.pause(name);
    };
}

auto resuming(std::string_view name)
{
    return [name = std::string(name)](store::schedules& rows, std::int64_t /*now*/) {
        return rows.resume(name);
    };
}

} // namespace

std::shared_ptr<const api::scheduler_state>
api::make_scheduler_state(std::shared_ptr<runtime::engine> engine, const scheduler_options& options)
{
    auto store = engine->source_named<schedule_store>("schedules");
    auto queues = queue_store_of(*engine);
    return std::make_shared<scheduler_state>(scheduler_state{
        std::move(engine), std::move(store), std::move(queues), options.create_schema});
}

scheduler::scheduler(std::shared_ptr<const api::scheduler_state> state) noexcept
    : state_(std::move(state))
{
}

asio::awaitable<void> scheduler::add(std::string_view name, std::string_view queue,
                                     std::string_view expression, std::string_view payload,
                                     schedule_options options) const
{
    state_->engine->require_outside_callback("add(tx, name, queue, expression, payload)");
    return expect_change(
        change(state_, adding({*state_->engine, name, queue, expression, payload, options})));
}

void scheduler::add(transaction& tx, std::string_view name, std::string_view queue,
                    std::string_view expression, std::string_view payload,
                    schedule_options options) const
{
    change(state_, api::own_batch(tx.batch_, *state_->engine),
           adding({*state_->engine, name, queue, expression, payload, options}));
}

asio::awaitable<bool> scheduler::update(std::string_view name, schedule_change wanted) const
{
    state_->engine->require_outside_callback("update(tx, name, change)");
    return change(state_, updating({*state_->engine, name, wanted}));
}

bool scheduler::update(transaction& tx, std::string_view name, schedule_change wanted) const
{
    return change(state_, api::own_batch(tx.batch_, *state_->engine),
                  updating({*state_->engine, name, wanted}));
}

asio::awaitable<bool> scheduler::remove(std::string_view name) const
{
    state_->engine->require_outside_callback("remove(tx, name)");
    return change(state_, removing(name));
}

bool scheduler::remove(transaction& tx, std::string_view name) const
{
    return change(state_, api::own_batch(tx.batch_, *state_->engine), removing(name));
}

asio::awaitable<bool> scheduler::pause(std::string_view name) const
{
    state_->engine->require_outside_callback("pause(tx, name)");
    return change(state_, pausing(name));
}

bool scheduler::pause(transaction& tx, std::string_view name) const
{
    return change(state_, api::own_batch(tx.batch_, *state_->engine), pausing(name));
}

asio::awaitable<bool> scheduler::resume(std::string_view name) const
{
    state_->engine->require_outside_callback("resume(tx, name)");
    return change(state_, resuming(name));
}

bool scheduler::resume(transaction& tx, std::string_view name) const
{
    return change(state_, api::own_batch(tx.batch_, *state_->engine), resuming(name));
}

asio::awaitable<std::vector<schedule>> scheduler::list() const
{
    return api::read_tables(state_->engine, state_->store, state_->create_schema,
                            [](api::schedule_statements& there, std::int64_t /*now*/) {
                                std::vector<schedule> all;
                                for (store::schedule& each : there.rows.list()) {
                                    all.push_back(api::shown_schedule(std::move(each)));
                                }
                                return all;
                            });
}

asio::awaitable<std::optional<schedule>> scheduler::find(std::string_view name) const
{
    return api::read_tables(
        state_->engine, state_->store, state_->create_schema,
        [name = std::string(name)](api::schedule_statements& there, std::int64_t /*now*/) {
            std::optional<store::schedule> found = there.rows.find(name);
            return found ? std::optional(api::shown_schedule(*std::move(found))) : std::nullopt;
        });
}

asio::awaitable<std::optional<clock::wall_time>> scheduler::soonest() const
{
    return api::read_tables(state_->engine, state_->store, state_->create_schema,
                            [](api::schedule_statements& there, std::int64_t /*now*/) {
                                const std::optional<std::int64_t> moment = there.rows.soonest();
                                return moment ? std::optional(api::from_seconds(*moment))
                                              : std::nullopt;
                            });
}

asio::awaitable<void> scheduler::run() const
{
    state_->engine->require_outside_callback();
    return api::run_scheduler(state_);
}

bool scheduler::operator==(const scheduler& other) const noexcept
{
    return state_->store == other.state_->store;
}

} // namespace skein
