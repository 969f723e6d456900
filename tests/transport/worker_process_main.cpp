// The program behind process_test.cpp: a worker in a process of its own, on the public interface.
//
//     skein_worker_process work <database> <directory> <workers>
//     skein_worker_process hold <database>
//     skein_worker_process publish <database> <count>
//     skein_worker_process open <database>

#include <skein/skein.hpp>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

/// A file that only one holder in the whole machine can have made: two in one group would meet
/// here.
bool enter(const std::filesystem::path& group)
{
    const int file = open((group.string() + ".held").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0) {
        return false;
    }
    close(file);
    return true;
}

void leave(const std::filesystem::path& group)
{
    std::filesystem::remove(group.string() + ".held");
}

/// Acknowledges, and sends every worker home when this was the last message.
bool finish(skein::transaction& tx, const skein::transport& transport, skein::message& message,
            int workers)
{
    const bool is_ours = message.ack(tx);
    SQLite::Statement left(tx.database(), "SELECT count(*) FROM harel_transport_messages");
    left.executeStep();
    if (left.getColumn(0).getInt() == 0) {
        for (int each = 0; each < workers; ++each) {
            transport.publish(tx, "stop" + std::to_string(each), "stop");
        }
    }
    return is_ours;
}

asio::awaitable<void> work(skein::database database, std::filesystem::path directory, int workers)
{
    const skein::transport transport = database.transport();
    asio::steady_timer pause(co_await asio::this_coro::executor);
    while (true) {
        skein::message message = co_await transport.claim("one name for all");
        if (message.payload() == "stop") {
            const bool is_ours = co_await message.ack();
            std::cout << (is_ours ? "stopped\n" : "stale\n");
            co_return;
        }
        const std::filesystem::path group = directory / std::string(message.group());
        if (!enter(group)) {
            std::cout << "two in " << message.group() << '\n';
        }
        std::ofstream(group.string() + ".log", std::ios::app) << message.payload() << '\n';
        pause.expires_after(2ms);
        co_await pause.async_wait(asio::use_awaitable);
        leave(group);
        const auto done = [&](skein::transaction& tx) {
            return finish(tx, transport, message, workers);
        };
        const bool is_ours = co_await database.transaction(done);
        std::cout << (is_ours ? "done\n" : "stale\n");
    }
}

asio::awaitable<void> hold(skein::database database)
{
    const skein::transport transport = database.transport();
    skein::claim_options options;
    options.visibility = 1h;
    const skein::message message = co_await transport.claim(options);
    std::cout << message.payload() << '\n' << std::flush;
    std::string line;
    std::getline(std::cin, line);
}

asio::awaitable<void> publish(skein::database database, int count)
{
    const skein::transport transport = database.transport();
    for (int each = 0; each < count; ++each) {
        const std::string payload = std::to_string(each);
        co_await transport.publish("g", payload);
        std::cout << payload << '\n' << std::flush;
    }
}

asio::awaitable<void> open_and_claim(skein::database database)
{
    const skein::transport transport = database.transport();
    const auto claimed = co_await transport.try_claim();
    std::cout << (claimed ? "claimed\n" : "none\n");
}

asio::awaitable<void> act(int count, char** arguments)
{
    const std::string verb = arguments[1];
    const std::string path = arguments[2];
    if (verb == "open") {
        // All of them open the file at the same moment.
        std::cout << "ready\n" << std::flush;
        std::string line;
        std::getline(std::cin, line);
    }
    skein::database database(path);
    if (verb == "work" && count == 5) {
        co_await work(database, arguments[3], std::stoi(arguments[4]));
    } else if (verb == "hold") {
        co_await hold(database);
    } else if (verb == "publish" && count == 4) {
        co_await publish(database, std::stoi(arguments[3]));
    } else if (verb == "open") {
        co_await open_and_claim(database);
    }
}

} // namespace

int main(int count, char** arguments)
{
    if (count < 3) {
        return 2;
    }
    int status = 1;
    asio::io_context context;
    asio::co_spawn(context, act(count, arguments), [&](std::exception_ptr failure) {
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
