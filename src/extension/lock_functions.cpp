#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"

namespace skein::extension {

namespace {

store::named_locks& locks_of(const call& from)
{
    return from.where().prepared().locks;
}

void acquire(call& from)
{
    const std::string_view name = from.text(0);
    const std::string_view owner = from.text(1);
    const std::int64_t ttl = from.integer(2);
    from.result(locks_of(from).acquire(name, owner, ttl, from.now()).is_held);
}

void renew(call& from)
{
    const std::string_view name = from.text(0);
    const std::string_view owner = from.text(1);
    const std::int64_t ttl = from.integer(2);
    store::require_lock_ttl(ttl);
    from.result(locks_of(from).renew(name, owner, ttl, from.now()));
}

void release(call& from)
{
    const std::string_view name = from.text(0);
    from.result(locks_of(from).release(name, from.text(1)));
}

/// A lock whose time is over has no holder any more.
void holder(call& from)
{
    const sqlite::connection connection = from.where().connection();
    store::named_locks fenced(connection, store::inspect_family(connection, store::lock_tables()));
    const auto found = fenced.find(from.text(0));
    if (!found || found->expires_at <= from.now()) {
        from.result_null();
        return;
    }
    from.result(text_of({{"expires_at", found->expires_at},
                         {"fence", or_null(found->fence)},
                         {"owner", found->owner}}));
}

} // namespace

std::vector<function> lock_functions()
{
    return {{"honker_lock_acquire", {"name", "owner", "ttl_s"}, acquire},
            {"honker_lock_renew", {"name", "owner", "ttl_s"}, renew},
            {"honker_lock_release", {"name", "owner"}, release},
            {"skein_lock_holder", {"name"}, holder}};
}

} // namespace skein::extension
