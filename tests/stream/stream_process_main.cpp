// The program behind process_test.cpp: one who publishes or consumes in a process of its own, on
// the public interface.
//
//     skein_stream_process publish <database> <count> <key>
//     skein_stream_process consume <database> <count>
//     skein_stream_process work <database>

#include <skein/skein.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

/// Returns when all processes of the test are there, so that they go on at the same moment.
void wait_for_the_others()
{
    std::cout << "ready\n" << std::flush;
    std::string line;
    std::getline(std::cin, line);
}

/// One commit for each, and for each seventh a transaction with two.
asio::awaitable<void> publish(skein::database database, int count, std::string key)
{
    const skein::stream stream = database.stream("orders");
    wait_for_the_others();
    for (int each = 1; each <= count; ++each) {
        const std::string payload = std::to_string(each);
        if (each % 7 != 0) {
            co_await stream.publish(key, payload);
            continue;
        }
        const auto both = [&](skein::transaction& tx) {
            stream.publish(tx, key, payload);
            ++each;
            stream.publish(tx, key, std::to_string(each));
        };
        co_await database.transaction(both);
    }
}

/// Tells what it gets, in the order in which it gets it.
asio::awaitable<void> consume(skein::database database, int count)
{
    skein::consumer consumer = co_await database.stream("orders").consumer("reader");
    wait_for_the_others();
    for (int each = 0; each < count; ++each) {
        const skein::stream_event event = co_await consumer.next();
        std::cout << event.offset << ' ' << event.key.value_or("none") << ' ' << event.payload
                  << '\n';
    }
}

/// Consumes with automatic saving, and tells of each event once it is handled, until it is killed.
asio::awaitable<void> work(skein::database database)
{
    skein::consumer consumer = co_await database.stream("orders").consumer(
        "worker", {.saving = skein::consumer_saving::automatically});
    while (true) {
        const std::vector<skein::stream_event> events = co_await consumer.next_many(5);
        for (const skein::stream_event& each : events) {
            std::cout << each.offset << '\n' << std::flush;
        }
    }
}

asio::awaitable<void> act(std::string command, std::vector<std::string> arguments)
{
    const auto executor = co_await asio::this_coro::executor;
    const skein::database database(executor, arguments.at(0),
                                   {.durability = skein::durability::off});
    if (command == "publish") {
        co_await publish(database, std::stoi(arguments.at(1)), arguments.at(2));
    } else if (command == "consume") {
        co_await consume(database, std::stoi(arguments.at(1)));
    } else if (command == "work") {
        co_await work(database);
    } else {
        throw std::invalid_argument("no such command: " + command);
    }
}

} // namespace

int main(int count, char** arguments)
{
    if (count < 2) {
        return 2;
    }
    int status = 1;
    asio::io_context context;
    std::vector<std::string> rest(arguments + 2, arguments + count);
    asio::co_spawn(context, act(arguments[1], std::move(rest)), [&](std::exception_ptr failure) {
        try {
            if (failure) {
                std::rethrow_exception(failure);
            }
            status = 0;
        } catch (const std::exception& known) {
            std::cout << "failed: " << known.what() << '\n';
        }
    });
    context.run();
    std::cout << std::flush;
    return status;
}
