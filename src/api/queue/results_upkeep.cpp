#include "api/queue/results_state.hpp"
#include "api/retention.hpp"
#include "api/seconds.hpp"
#include "api/slices.hpp"
#include "store/saturating.hpp"

#include <skein/error.hpp>
#include <skein/results.hpp>

#include <utility>
#include <vector>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::results_state>;
using api::most_in_slice;

api::removal removal_by_age(state_handle where, std::chrono::seconds older_than)
{
    return [where = std::move(where), age = api::checked_age(older_than)](runtime::batch& batch) {
        const std::int64_t now = api::to_seconds(batch.now());
        return where->ready(batch).results.purge(store::saturating_subtract(now, age),
                                                 most_in_slice);
    };
}

api::removal removal_by_number(state_handle where, std::size_t keep)
{
    return [where = std::move(where), kept = api::kept_of(keep)](runtime::batch& batch) {
        return where->ready(batch).results.keep_newest(kept, most_in_slice);
    };
}

api::removal removal_of_expired(state_handle where)
{
    return [where = std::move(where)](runtime::batch& batch) {
        const std::int64_t now = api::to_seconds(batch.now());
        return where->ready(batch).results.sweep(most_in_slice, now);
    };
}

} // namespace

asio::awaitable<std::size_t> results::sweep() const
{
    return api::remove_in_slices(state_->engine, {removal_of_expired(state_)});
}

asio::awaitable<std::size_t> results::prune(result_retention retention) const
{
    std::vector<api::removal> removals;
    if (retention.older_than) {
        removals.push_back(removal_by_age(state_, *retention.older_than));
    }
    if (retention.keep) {
        removals.push_back(removal_by_number(state_, *retention.keep));
    }
    if (removals.empty()) {
        throw error(errc::invalid_argument,
                    "older_than, keep: neither is given; one of them, or both, is accepted");
    }
    return api::remove_in_slices(state_->engine, std::move(removals));
}

} // namespace skein
