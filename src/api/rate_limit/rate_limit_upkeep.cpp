#include <skein/database.hpp>

#include "api/database_owner.hpp"
#include "api/microseconds.hpp"
#include "api/rate_limit/rate_limit_state.hpp"
#include "api/retention.hpp"
#include "api/seconds.hpp"
#include "api/slices.hpp"

#include <memory>
#include <utility>

namespace skein {

namespace {

using store_handle = std::shared_ptr<api::rate_limit_store>;
using api::most_in_slice;

api::removal removal_of_windows(store_handle there, bool create_schema,
                                std::chrono::seconds older_than)
{
    return [there = std::move(there), create_schema,
            age = api::checked_age(older_than)](runtime::batch& batch) {
        store::rate_limits& windows = there->ready(batch, create_schema).windows;
        const std::int64_t forgotten =
            windows.sweep(age, most_in_slice, api::to_seconds(batch.now()));
        if (forgotten != 0) {
            // The window of now may be among them.
            batch.touch(*there);
        }
        return forgotten;
    };
}

/// Those that have all of their burst are as free as before: nobody need look.
api::removal removal_of_paced(store_handle there, bool create_schema)
{
    return [there = std::move(there), create_schema](runtime::batch& batch) {
        store::paced_limits& paced = there->ready(batch, create_schema).paced;
        return there->has_additions()
                   ? paced.sweep(most_in_slice, api::to_microseconds(batch.now()))
                   : std::int64_t{0};
    };
}

} // namespace

asio::awaitable<std::size_t> database::sweep_rate_limits(std::chrono::seconds older_than,
                                                         rate_limit_sweep_options options) const
{
    const std::shared_ptr<runtime::engine>& engine = owner_->engine();
    const store_handle there = api::rate_limit_store_of(*engine);
    return api::remove_in_slices(engine,
                                 {removal_of_windows(there, options.create_schema, older_than),
                                  removal_of_paced(there, options.create_schema)});
}

} // namespace skein
