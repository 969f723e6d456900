// The program behind lock_process_test.cpp: one who takes locks in a process of its own, on the
// public interface.
//
//     skein_lock_process hold <database>               holds the lock 'l' until its input ends
//     skein_lock_process take-turns <database> <times> holds it so many times, and checks that it
//                                                      is alone

#include <skein/skein.hpp>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

asio::awaitable<void> work_for_ever()
{
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer never(executor, asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
}

/// Says what becomes of the lock.
asio::awaitable<void> hold(std::string path)
{
    const skein::database database(path);
    skein::lock_guard guard = co_await database.lock("l", {.ttl = 1s}).acquire();
    std::cout << "held " << guard.fence().value_or(0) << '\n' << std::flush;
    try {
        co_await guard.run(work_for_ever());
    } catch (const skein::error& told) {
        std::cout << (told.code() == skein::errc::lock_lost ? "lost" : told.what()) << '\n'
                  << std::flush;
    }
}

/// Adds to the number of those inside, and says how many there are then.
asio::awaitable<int> enter(const skein::database& database, int change)
{
    const auto count = [change](skein::transaction& tx) {
        SQLite::Statement update(tx.database(),
                                 "UPDATE gate SET inside = inside + ? RETURNING inside");
        update.bind(1, change);
        update.executeStep();
        return update.getColumn(0).getInt();
    };
    co_return co_await database.transaction(count);
}

asio::awaitable<void> take_turns(std::string path, int times)
{
    const skein::database database(path);
    const skein::named_lock lock = database.lock("l", {.ttl = 60s});
    for (int i = 0; i < times; ++i) {
        skein::lock_guard guard = co_await lock.acquire();
        const int inside = co_await enter(database, 1);
        std::cout << (inside == 1 ? "alone " : "not alone ") << guard.fence().value_or(0) << '\n';
        co_await enter(database, -1);
        co_await guard.release();
    }
    std::cout << std::flush;
}

void end_with(std::exception_ptr failure)
{
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace

int main(int count, char** arguments)
{
    const std::vector<std::string> given(arguments + 1, arguments + count);
    asio::io_context context;
    asio::co_spawn(context,
                   given.at(0) == "hold" ? hold(given.at(1))
                                         : take_turns(given.at(1), std::stoi(given.at(2))),
                   end_with);
    context.run();
}
