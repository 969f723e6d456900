#include "api/database_owner.hpp"
#include "api/queue/job_info.hpp"
#include "api/queue/queue_reading.hpp"
#include "api/queue/queue_state.hpp"

#include <skein/database.hpp>
#include <skein/error.hpp>
#include <skein/job_info.hpp>
#include <skein/queue.hpp>

#include <string>

namespace skein {

namespace {

using api::job_info_maker;

template <class Look>
auto start(const std::shared_ptr<const api::queue_state>& state, Look look)
{
    return api::look(state->engine, state->store, state->create_schema, std::move(look));
}

/// The same at all queues of a database. As with its handles by default, the tables are ours.
template <class Look>
auto start(const std::shared_ptr<runtime::engine>& engine, Look look)
{
    return api::look(engine, api::queue_store_of(*engine), true, std::move(look));
}

store::job_state listed_state(job_state state)
{
    switch (state) {
    case job_state::pending:
        return store::job_state::pending;
    case job_state::scheduled:
        return store::job_state::scheduled;
    case job_state::processing:
        return store::job_state::processing;
    case job_state::dead:
    case job_state::other:
        break;
    }
    throw error(errc::invalid_argument,
                "state: pending, scheduled and processing are accepted; dead jobs are told by "
                "dead_letters");
}

/// A public place has one time, which is that of the list that it is from.
store::job_position position_of(const std::optional<job_place>& after)
{
    store::job_position position;
    if (after) {
        position.priority = after->priority;
        position.run_at = after->time;
        position.claim_expires_at = after->time;
        position.id = after->id;
    }
    return position;
}

std::size_t count_of(std::int64_t count) noexcept
{
    return static_cast<std::size_t>(count);
}

queue_counts public_counts(const store::queue_counts& found)
{
    queue_counts counts;
    counts.pending = count_of(found.pending);
    counts.scheduled = count_of(found.scheduled);
    counts.held = count_of(found.held);
    counts.processing = count_of(found.processing);
    counts.lapsed = count_of(found.lapsed);
    counts.dead = count_of(found.dead);
    if (found.oldest_ready) {
        counts.oldest_ready = api::from_seconds(*found.oldest_ready);
    }
    if (found.next_due) {
        counts.next_due = api::from_seconds(*found.next_due);
    }
    return counts;
}

std::vector<named_queue_counts> all_counts(store::queue_inspection& there, std::int64_t now)
{
    std::vector<named_queue_counts> all;
    for (auto name = there.first_name(); name; name = there.next_name(*name)) {
        all.push_back({*name, public_counts(there.counts(*name, now))});
    }
    return all;
}

} // namespace

asio::awaitable<std::optional<job_info>> queue::find(std::int64_t id) const
{
    return start(state_, [state = state_, id](api::queue_statements& there, std::int64_t now) {
        std::optional<job_info> found = job_info_maker::make(there.inspection.find(id), now);
        return found && found->queue == state->name() ? std::move(found) : std::nullopt;
    });
}

asio::awaitable<std::vector<job_info>> queue::list(job_state state, job_list_options options) const
{
    const std::int64_t limit = api::checked_limit(options.limit);
    return start(state_, [queue = state_, which = listed_state(state),
                          after = position_of(options.after),
                          limit](api::queue_statements& there, std::int64_t now) {
        std::vector<job_info> page;
        for (store::live_job& each : there.inspection.list(queue->name(), which, after, limit)) {
            page.push_back(job_info_maker::make(std::move(each), now));
        }
        return page;
    });
}

asio::awaitable<queue_counts> queue::counts() const
{
    return start(state_, [state = state_](api::queue_statements& there, std::int64_t now) {
        return public_counts(there.inspection.counts(state->name(), now));
    });
}

asio::awaitable<bool> queue::is_paused() const
{
    return start(state_, [state = state_](api::queue_statements& there, std::int64_t /*now*/) {
        return there.held.is_paused(state->name());
    });
}

asio::awaitable<std::optional<clock::wall_time>> queue::next_due() const
{
    return start(state_, [state = state_](api::queue_statements& there, std::int64_t now) {
        const auto next = there.forecast.next_claim_at(state->name(), now);
        return next ? std::optional(api::from_seconds(*next)) : std::nullopt;
    });
}

asio::awaitable<std::optional<job_info>> database::find_job(std::int64_t id) const
{
    return start(owner_->engine(), [id](api::queue_statements& there, std::int64_t now) {
        return job_info_maker::make(there.inspection.find(id), now);
    });
}

asio::awaitable<std::vector<named_queue_counts>> database::queues() const
{
    return start(owner_->engine(), [](api::queue_statements& there, std::int64_t now) {
        return all_counts(there.inspection, now);
    });
}

} // namespace skein
