// Notifications: a cache that is told which of its entries are out of date, and that starts afresh
// when it has listened too late to be told of all of them.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <iostream>
#include <map>
#include <string>

/// Forgets what a notification names. Returns whether anything was forgotten.
asio::awaitable<bool> keep_up(skein::listener& changes, std::map<std::string, std::string>& cache)
{
    try {
        const skein::notification change = co_await changes.next();
        std::cout << "out of date: " << change.payload << '\n';
        co_return cache.erase(change.payload) == 1;
    } catch (const skein::lagged& missed) {
        std::cout << "notifications " << missed.first() << " to " << missed.last()
                  << " were removed: all may be out of date\n";
        cache.clear();
        co_return true;
    }
}

asio::awaitable<void> run(skein::database db, bool& is_right)
{
    std::map<std::string, std::string> cache{{R"("ann")", "Ann"}, {R"("bob")", "Bob"}};
    // From here on nothing is missed, be it committed before or after the first `next`.
    skein::listener changes = co_await db.listen("customers");

    co_await db.notify("customers", R"("ann")");
    const bool knew_ann = co_await keep_up(changes, cache);

    co_await db.notify("customers", R"("bob")");
    co_await db.notify("customers", R"("cid")");
    co_await db.prune_notifications({.keep = 1}); // nobody need be told of bob any more
    const bool has_lagged = co_await keep_up(changes, cache);
    const bool knew_cid = co_await keep_up(changes, cache);
    is_right = knew_ann && has_lagged && cache.empty() && !knew_cid;
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "app.db");
    bool is_right = false;
    asio::co_spawn(context, run(db, is_right), rethrow);
    context.run();
    return is_right ? 0 : 1;
}
