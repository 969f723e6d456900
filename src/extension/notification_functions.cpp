#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/retention.hpp"
#include "store/json_text.hpp"
#include "store/saturating.hpp"

namespace skein::extension {

namespace {

void notify(call& from)
{
    const std::string_view channel = from.text(0);
    const std::string_view payload = from.text(1);
    store::require_json(payload);
    from.result(from.where().prepared().notifications.notify(channel, payload, from.now()));
}

void prune(call& from)
{
    const retention wanted = retention_of(from, 0);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(from, [&] {
        store::notifications& all = from.where().prepared().notifications;
        std::int64_t count = 0;
        if (wanted.older_than) {
            count += all.purge(store::saturating_subtract(now, *wanted.older_than), all_of_them);
        }
        if (const auto last = wanted.keep ? all.newest_but(*wanted.keep) : std::nullopt) {
            count += all.remove_through(*last, all_of_them);
        }
        return count;
    }));
}

} // namespace

std::vector<function> notification_functions()
{
    return {{"notify", {"channel", "payload"}, notify},
            {"skein_notification_prune", {"older_than_s", "keep"}, prune}};
}

} // namespace skein::extension
