// The program behind process_test.cpp: a relay in a process of its own, whose sink tells what it
// gets.
//
//     skein_relay_process <database> <time to live of its lock, in seconds>

#include <skein/skein.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

int main(int count, char** arguments)
{
    if (count != 3) {
        return 2;
    }
    asio::io_context context;
    const skein::database database(context.get_executor(), arguments[1],
                                   {.durability = skein::durability::off});
    const auto tell = [](const skein::relayed_event& each) -> asio::awaitable<void> {
        std::cout << each.id << ' ' << each.event.payload << '\n' << std::flush;
        co_return;
    };
    const skein::relay relay = database.stream("orders").relay(
        "broker", {.lock_ttl = std::chrono::seconds{std::stoi(arguments[2])}});
    asio::co_spawn(context, relay.run(tell), [](std::exception_ptr failure) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    });
    context.run();
}
