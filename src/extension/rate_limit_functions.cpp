#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/retention.hpp"

#include <algorithm>
#include <limits>

namespace skein::extension {

namespace {

void try_take(call& from)
{
    const std::string_view name = from.text(0);
    const std::int64_t limit = from.integer(1);
    const std::int64_t per = from.integer(2);
    store::require_rate_limit(limit, per);
    const std::int64_t now = from.now();
    from.result(from.where().atomically_anywhere(
        [&] { return from.where().prepared().windows.try_take(name, limit, per, now); }));
}

void sweep(call& from)
{
    const std::int64_t older_than = from.integer(0);
    from.result(from.where().prepared().windows.sweep(older_than, all_of_them, from.now()));
}

constexpr std::int64_t microseconds = 1'000'000;

std::int64_t to_microseconds(std::int64_t seconds)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / microseconds;
    return std::clamp(seconds, -most, most) * microseconds;
}

/// SQL tells the time in whole seconds: permits come at the beginning of one.
void try_take_paced(call& from)
{
    const std::string_view name = from.text(0);
    const store::pace wanted{from.integer(1), to_microseconds(from.integer(2)), from.integer(3)};
    store::require_pace(wanted);
    const std::int64_t now = to_microseconds(from.now());
    from.result(from.where().atomically_anywhere(
        [&] { return from.where().prepared().paced.try_take(name, wanted, now).is_taken; }));
}

} // namespace

std::vector<function> rate_limit_functions()
{
    return {{"honker_rate_limit_try", {"name", "limit", "per"}, try_take},
            {"honker_rate_limit_sweep", {"older_than_s"}, sweep},
            {"skein_rate_limit_try_paced", {"name", "permits", "per_s", "burst"}, try_take_paced}};
}

} // namespace skein::extension
