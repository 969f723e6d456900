#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/retention.hpp"
#include "store/json_text.hpp"
#include "store/saturating.hpp"

namespace skein::extension {

namespace {

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

void prune(call& from)
{
    const retention wanted = retention_of(from, 0);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(from, [&] {
        store::job_results& results = from.where().prepared().results;
        std::int64_t count = 0;
        if (wanted.older_than) {
            count +=
                results.purge(store::saturating_subtract(now, *wanted.older_than), all_of_them);
        }
        if (wanted.keep) {
            count += results.keep_newest(*wanted.keep, all_of_them);
        }
        return count;
    }));
}

} // namespace

std::vector<function> result_functions()
{
    return {{"honker_result_save", {"job_id", "value", "ttl_s"}, save},
            {"honker_result_get", {"job_id"}, get},
            {"honker_result_sweep", {}, sweep},
            {"skein_result_prune", {"older_than_s", "keep"}, prune}};
}

} // namespace skein::extension
