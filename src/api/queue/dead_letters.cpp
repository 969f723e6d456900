#include <skein/dead_letters.hpp>

#include "api/misuse.hpp"
#include "api/queue/dead_letter_slice.hpp"
#include "api/queue/job_events.hpp"
#include "api/queue/job_info.hpp"
#include "api/queue/queue_reading.hpp"
#include "api/small_unit.hpp"

#include <skein/error.hpp>
#include <skein/queue.hpp>

#include <algorithm>
#include <limits>

namespace skein {

namespace {

using api::dead_letter_task;
using state_handle = std::shared_ptr<const api::queue_state>;
using action = dead_letter_task::action;

/// Letters die in whole seconds: before a moment is before the second that does not lie before it.
std::optional<std::int64_t> whole_seconds(const std::optional<clock::wall_time>& time)
{
    return time ? std::optional(api::to_seconds_or_later(*time)) : std::nullopt;
}

std::optional<std::string> owned(const std::optional<std::string_view>& text)
{
    return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// `all` is the verb for those who mean all of them.
dead_letter_task filtered_task(action what, const dead_letter_filter& filter, const char* all)
{
    if (!filter.died_before && !filter.last_error) {
        throw error(errc::invalid_argument,
                    std::string("filter: names nothing; died_before, last_error or both are "
                                "accepted, and all letters are meant by ") +
                        all);
    }
    return {what, {.died_before = whole_seconds(filter.died_before)}, owned(filter.last_error)};
}

dead_letter_task pruning_task(const dead_letter_retention& retention)
{
    if (!retention.older_than && !retention.keep) {
        throw error(errc::invalid_argument,
                    "retention: gives no limit; older_than, keep or both are accepted");
    }
    dead_letter_task task;
    if (retention.older_than) {
        if (retention.older_than->count() < 0) {
            throw error(errc::invalid_argument,
                        "older_than: " + std::to_string(retention.older_than->count()) +
                            " s is not accepted; zero or more is");
        }
        task.limits.older_than = retention.older_than->count();
    }
    if (retention.keep) {
        constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();
        task.limits.keep = static_cast<std::int64_t>(std::min(*retention.keep, most));
    }
    return task;
}

std::optional<std::int64_t> redrive_in(const api::queue_state& queue, runtime::batch& batch,
                                       std::int64_t id)
{
    const std::optional<std::int64_t> job =
        queue.ready(batch).dead.redrive(queue.name(), id, api::to_seconds(batch.now()));
    if (job) {
        batch.touch(*queue.source);
        api::queue_store::touch_end(batch, id);
        api::note_enqueued(batch, *queue.source, {&*job, 1}, job_origin::dead_letter);
    }
    return job;
}

asio::awaitable<std::vector<redriven_job>>
redrive_in_slices(state_handle where, std::shared_ptr<const dead_letter_task> task)
{
    std::vector<redriven_job> all;
    api::dead_letter_progress progress;
    while (!progress.is_done) {
        const auto slice = std::make_shared<api::dead_letter_slice>(where, task, progress);
        co_await runtime::await_operation(where->engine, slice);
        all.insert(all.end(), slice->result.begin(), slice->result.end());
        progress = slice->end();
    }
    co_return all;
}

asio::awaitable<std::size_t> remove_in_slices(state_handle where,
                                              std::shared_ptr<const dead_letter_task> task)
{
    std::size_t count = 0;
    api::dead_letter_progress progress;
    while (!progress.is_done) {
        const auto slice = std::make_shared<api::dead_letter_slice>(where, task, progress);
        co_await runtime::await_operation(where->engine, slice);
        count += slice->result.size();
        progress = slice->end();
    }
    co_return count;
}

asio::awaitable<std::vector<redriven_job>> start_redriving(const state_handle& where,
                                                           dead_letter_task task)
{
    where->engine->require_outside_callback();
    return redrive_in_slices(where, std::make_shared<const dead_letter_task>(std::move(task)));
}

asio::awaitable<std::size_t> start_removing(const state_handle& where, dead_letter_task task)
{
    where->engine->require_outside_callback();
    return remove_in_slices(where, std::make_shared<const dead_letter_task>(std::move(task)));
}

} // namespace

dead_letters::dead_letters(std::shared_ptr<const api::queue_state> state) noexcept
    : state_(std::move(state))
{
}

skein::dead_letters queue::dead_letters() const
{
    return skein::dead_letters(state_);
}

asio::awaitable<std::optional<job_info>> dead_letters::find(std::int64_t id) const
{
    const auto look = [state = state_, id](api::queue_statements& there, std::int64_t /*now*/) {
        std::optional<store::dead_letter> found = there.dead.find(id);
        return found && found->queue == state->name()
                   ? std::optional(api::job_info_maker::make(*std::move(found)))
                   : std::nullopt;
    };
    return api::look(state_->engine, state_->store, state_->create_schema, look);
}

asio::awaitable<std::vector<job_info>> dead_letters::list(dead_letter_list_options options) const
{
    const std::int64_t limit = api::checked_limit(options.limit);
    store::dead_letter_position after;
    if (options.after) {
        after = {options.after->time, options.after->id};
    }
    const auto look = [state = state_, limit, after, before = whole_seconds(options.died_before),
                       last_error = owned(options.last_error)](api::queue_statements& there,
                                                               std::int64_t /*now*/) {
        std::vector<job_info> page;
        const store::dead_letter_filter filter{state->name(), before, last_error};
        for (store::dead_letter& each : there.dead.list(filter, after, limit)) {
            page.push_back(api::job_info_maker::make(std::move(each)));
        }
        return page;
    };
    return api::look(state_->engine, state_->store, state_->create_schema, look);
}

asio::awaitable<std::optional<std::int64_t>> dead_letters::redrive(std::int64_t id) const
{
    state_->engine->require_outside_callback("redrive(tx, id)");
    return api::write(state_->engine, [state = state_, id](runtime::batch& batch) {
        return redrive_in(*state, batch, id);
    });
}

std::optional<std::int64_t> dead_letters::redrive(transaction& tx, std::int64_t id) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    return state_->ready(batch).savepoint.run([&] { return redrive_in(*state_, batch, id); });
}

asio::awaitable<std::vector<redriven_job>>
dead_letters::redrive_many(dead_letter_filter filter) const
{
    return start_redriving(state_, filtered_task(action::redrive, filter, "redrive_all"));
}

asio::awaitable<std::vector<redriven_job>> dead_letters::redrive_all() const
{
    return start_redriving(state_, {action::redrive});
}

asio::awaitable<std::size_t> dead_letters::purge(dead_letter_filter filter) const
{
    return start_removing(state_, filtered_task(action::remove, filter, "purge_all"));
}

asio::awaitable<std::size_t> dead_letters::purge_all() const
{
    return start_removing(state_, {action::remove});
}

asio::awaitable<std::size_t> dead_letters::prune(dead_letter_retention retention) const
{
    return start_removing(state_, pruning_task(retention));
}

bool dead_letters::operator==(const dead_letters& other) const noexcept
{
    return state_->source == other.state_->source;
}

} // namespace skein
