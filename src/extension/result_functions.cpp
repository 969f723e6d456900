#include "extension/function.hpp"

#include "extension/host.hpp"
#include "store/json_text.hpp"

namespace skein::extension {

namespace {

constexpr std::int64_t all_of_them = -1;

void save(call& from)
{
    const std::int64_t job = from.integer(0);
    const std::string_view value = from.text(1);
    const std::int64_t ttl = from.integer(2);
    store::require_json(value);
    from.where().prepared().results.save(job, value, ttl, from.now());
    from.result(true);
}

void get(call& from)
{
    const auto found = from.where().prepared().results.get(from.integer(0), from.now());
    if (found) {
        from.result(*found);
    } else {
        from.result_null();
    }
}

void sweep(call& from)
{
    from.result(from.where().prepared().results.sweep(all_of_them, from.now()));
}

} // namespace

std::vector<function> result_functions()
{
    return {{"honker_result_save", {"job_id", "value", "ttl_s"}, save},
            {"honker_result_get", {"job_id"}, get},
            {"honker_result_sweep", {}, sweep}};
}

} // namespace skein::extension
