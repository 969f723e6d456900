// A lock that one of several processes holds at a time, and work that is cancelled when the lock is
// lost; a limit on how often something is done by all of them together.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <SQLiteCpp/Database.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

asio::awaitable<int> reindex(skein::rate_limit requests)
{
    int pages = 0;
    for (; pages < 3; ++pages) {
        co_await requests.take(); // waits until the next one is allowed
        std::cout << "page " << pages << '\n';
    }
    co_return pages;
}

asio::awaitable<void> wait_for_ever()
{
    asio::steady_timer never(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
}

/// Whether the work was stopped because the lock was lost.
asio::awaitable<bool> lose_it(skein::database db, skein::lock_guard guard)
{
    // As if this process had been stopped, and another had taken the lock meanwhile.
    const auto take_away = [](skein::transaction& tx) {
        tx.database().exec("UPDATE _honker_locks SET owner = 'another'");
    };
    co_await db.transaction(take_away);
    bool was_lost = false;
    try {
        co_await guard.run(wait_for_ever());
    } catch (const skein::error& failure) {
        was_lost = failure.code() == skein::errc::lock_lost;
        std::cout << failure.what() << '\n';
    }
    co_return was_lost;
}

asio::awaitable<void> run(skein::database db, bool& is_right)
{
    const skein::named_lock lock = db.lock("reindex", {.ttl = 1s});
    const skein::rate_limit requests = db.rate_limit(
        "requests",
        {.permits = 20, .per = 1s, .algorithm = skein::rate_limit_algorithm::paced, .burst = 2});

    skein::lock_guard guard = co_await lock.acquire();
    std::cout << "alone, as holder number " << guard.fence().value_or(0) << '\n';
    const int pages = co_await guard.run(reindex(requests));
    const bool was_lost = co_await lose_it(db, std::move(guard));
    is_right = pages == 3 && was_lost;
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
