#include "extension/tables.hpp"

#include "extension/function.hpp"
#include "extension/host.hpp"
#include "sqlite/atomic_write.hpp"
#include "store/queue/queue_schema.hpp"
#include "store/rate_limit/rate_limit_schema.hpp"

#include <array>

namespace skein::extension {

namespace {

using store::family_shape;

constexpr std::array families{store::notification_tables, store::stream_tables, store::lock_tables,
                              store::rate_limit_tables};

bool is_complete(sqlite::connection connection)
{
    for (const auto family : families) {
        if (store::inspect_family(connection, family()) != family_shape::complete) {
            return false;
        }
    }
    return store::inspect_queue(connection) == store::queue_shape::complete &&
           store::inspect_schedules(connection) == family_shape::complete;
}

void create_all(sqlite::connection connection, std::int64_t now)
{
    store::create_queue(connection, now);
    store::create_schedules(connection);
    for (const auto family : families) {
        store::create_family(connection, family());
    }
}

/// Of several programs that start together one makes the tables, since the write lock comes before
/// the look. Inside the caller's transaction it is the caller who has chosen when it is taken.
template <class Work>
void write_schema(const host& where, Work work)
{
    sqlite::atomic_write once(where.connection(), "skein_tables");
    once.run([&] {
        work();
        return true;
    });
}

void bootstrap(call& from)
{
    host& where = from.where();
    if (!is_complete(where.connection())) {
        const std::int64_t now = from.now();
        // It could begin, but not commit, and that would be told as a lock.
        where.require_separate_select(from);
        write_schema(where, [&] { create_all(where.connection(), now); });
    }
    from.result(true);
}

} // namespace

void make_notification_tables(host& where)
{
    const sqlite::connection connection = where.connection();
    const bool is_there =
        store::inspect_family(connection, store::notification_tables()) != family_shape::missing;
    if (is_there || sqlite3_db_readonly(connection.handle(), "main") == 1) {
        return;
    }
    write_schema(where, [&] { store::create_family(connection, store::notification_tables()); });
}

std::vector<function> table_functions()
{
    return {{"honker_bootstrap", {}, bootstrap}};
}

} // namespace skein::extension
