#include "extension/function.hpp"

#include "extension/host.hpp"
#include "store/json_text.hpp"

namespace skein::extension {

namespace {

void notify(call& from)
{
    const std::string_view channel = from.text(0);
    const std::string_view payload = from.text(1);
    store::require_json(payload);
    from.result(from.where().prepared().notifications.get().notify(channel, payload, from.now()));
}

} // namespace

std::vector<function> notification_functions()
{
    return {{"notify", {"channel", "payload"}, notify}};
}

} // namespace skein::extension
