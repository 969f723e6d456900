#include "extension/function.hpp"

#include "extension/host.hpp"

namespace skein::extension {

namespace {

constexpr std::int64_t all_of_them = -1;

void try_take(call& from)
{
    const std::string_view name = from.text(0);
    const std::int64_t limit = from.integer(1);
    const std::int64_t per = from.integer(2);
    store::require_rate_limit(limit, per);
    from.result(from.where().prepared().windows.try_take(name, limit, per, from.now()));
}

void sweep(call& from)
{
    const std::int64_t older_than = from.integer(0);
    from.result(from.where().prepared().windows.sweep(older_than, all_of_them, from.now()));
}

} // namespace

std::vector<function> rate_limit_functions()
{
    return {{"honker_rate_limit_try", {"name", "limit", "per"}, try_take},
            {"honker_rate_limit_sweep", {"older_than_s"}, sweep}};
}

} // namespace skein::extension
