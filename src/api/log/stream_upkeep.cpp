#include <skein/stream.hpp>

#include "api/log/stream_store.hpp"
#include "api/retention.hpp"
#include "api/slices.hpp"
#include "api/small_unit.hpp"
#include "api/table_reading.hpp"
#include "store/saturating.hpp"

#include <skein/error.hpp>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::stream_state>;

api::removal removal_by_age(state_handle state, std::chrono::seconds older_than)
{
    return [state = std::move(state), age = api::checked_age(older_than)](runtime::batch& batch) {
        const std::int64_t before = store::saturating_subtract(api::to_seconds(batch.now()), age);
        return state->ready(batch).trim_older(state->topic(), before, api::most_in_slice);
    };
}

api::removal removal_by_number(const state_handle& state, std::size_t keep)
{
    return api::removal_up_to(
        [state, kept = api::kept_of(keep)](runtime::batch& batch) {
            return state->ready(batch).last_but(state->topic(), kept);
        },
        [state](runtime::batch& batch, std::int64_t last) {
            return state->ready(batch).trim_through(state->topic(), last, api::most_in_slice);
        });
}

/// Looked for in each slice: a consumer may have come that still needs the rest.
api::removal removal_of_what_is_passed(state_handle state)
{
    return [state = std::move(state)](runtime::batch& batch) {
        store::streams& there = state->ready(batch);
        const std::optional<std::int64_t> last = there.passed_by_all(state->topic());
        return last ? there.trim_through(state->topic(), *last, api::most_in_slice) : 0;
    };
}

} // namespace

asio::awaitable<std::vector<stream_consumer>> stream::consumers() const
{
    const auto list = [state = state_](store::streams& there, std::int64_t /*now*/) {
        std::vector<stream_consumer> all;
        for (store::stream_consumer& each : there.consumers(state->topic())) {
            all.push_back({std::move(each.name), each.offset});
        }
        return all;
    };
    return api::read_tables(state_->engine, state_->store, state_->create_schema, list);
}

asio::awaitable<bool> stream::forget_consumer(std::string_view name) const
{
    const auto forget = [state = state_, name = std::string(name)](runtime::batch& batch) {
        return state->ready(batch).forget_consumer(name, state->topic());
    };
    return api::write(state_->engine, forget);
}

asio::awaitable<std::size_t> stream::trim(stream_retention retention) const
{
    std::vector<api::removal> removals;
    if (retention.older_than) {
        removals.push_back(removal_by_age(state_, *retention.older_than));
    }
    if (retention.keep) {
        removals.push_back(removal_by_number(state_, *retention.keep));
    }
    if (retention.passed_by_all) {
        removals.push_back(removal_of_what_is_passed(state_));
    }
    if (removals.empty()) {
        throw error(errc::invalid_argument, "older_than, keep, passed_by_all: none is given; at "
                                            "least one of them is accepted");
    }
    return api::remove_in_slices(state_->engine, std::move(removals));
}

} // namespace skein
