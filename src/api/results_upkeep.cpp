#include "api/results_state.hpp"
#include "api/seconds.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/unit.hpp"
#include "store/saturating.hpp"

#include <skein/error.hpp>
#include <skein/results.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::results_state>;

// What is removed in one transaction: the write lock is held meanwhile.
constexpr std::int64_t most_at_once = 500;

/// Removes at most `most_at_once` results. Returns how many; `now` is in epoch seconds.
using removal = std::function<std::int64_t(store::job_results&, std::int64_t now)>;

class removal_unit final : public runtime::unit {
public:
    using result_type = std::int64_t;

    removal_unit(state_handle where, removal remove)
        : where_(std::move(where)), remove_(std::move(remove))
    {
    }

    void run(runtime::batch& batch) override
    {
        result = remove_(where_->ready(batch).results, api::to_seconds(batch.now()));
    }

    std::int64_t result = 0;

private:
    state_handle where_;
    removal remove_;
};

/// Does one after the other, each slice by slice until one is not full.
asio::awaitable<std::size_t> remove_in_slices(state_handle state, std::vector<removal> removals)
{
    std::size_t removed = 0;
    for (const removal& each : removals) {
        std::int64_t last = most_at_once;
        while (last == most_at_once) {
            const auto slice = std::make_shared<removal_unit>(state, each);
            last = co_await runtime::await_result(state->engine, slice);
            removed += static_cast<std::size_t>(last);
        }
    }
    co_return removed;
}

removal removal_by_age(std::chrono::seconds age)
{
    if (age.count() < 0) {
        throw error(errc::invalid_argument, "older_than: " + std::to_string(age.count()) +
                                                " s is not accepted; zero or more is");
    }
    return [age](store::job_results& there, std::int64_t now) {
        return there.purge(store::saturating_add(now, -age.count()), most_at_once);
    };
}

removal removal_by_number(std::size_t keep)
{
    constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();
    return [kept = static_cast<std::int64_t>(std::min(keep, most))](store::job_results& there,
                                                                    std::int64_t /*now*/) {
        return there.keep_newest(kept, most_at_once);
    };
}

std::int64_t remove_expired(store::job_results& there, std::int64_t now)
{
    return there.sweep(most_at_once, now);
}

} // namespace

asio::awaitable<std::size_t> results::sweep() const
{
    return remove_in_slices(state_, {remove_expired});
}

asio::awaitable<std::size_t> results::prune(result_retention retention) const
{
    std::vector<removal> removals;
    if (retention.older_than) {
        removals.push_back(removal_by_age(*retention.older_than));
    }
    if (retention.keep) {
        removals.push_back(removal_by_number(*retention.keep));
    }
    if (removals.empty()) {
        throw error(errc::invalid_argument,
                    "older_than, keep: neither is given; one of them, or both, is accepted");
    }
    return remove_in_slices(state_, std::move(removals));
}

} // namespace skein
