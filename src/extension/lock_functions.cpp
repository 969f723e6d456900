#include "extension/function.hpp"

#include "extension/host.hpp"

namespace skein::extension {

namespace {

store::named_locks& locks_of(const call& from)
{
    return from.where().prepared().locks.get();
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

} // namespace

std::vector<function> lock_functions()
{
    return {{"honker_lock_acquire", {"name", "owner", "ttl_s"}, acquire},
            {"honker_lock_renew", {"name", "owner", "ttl_s"}, renew},
            {"honker_lock_release", {"name", "owner"}, release}};
}

} // namespace skein::extension
