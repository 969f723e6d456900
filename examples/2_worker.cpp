// A worker: several messages at once, a later try for what failed, and a stop that leaves nothing
// half done.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

int sent = 0;

void send(std::string_view address)
{
    static int tries = 0;
    if (++tries == 2) {
        throw std::runtime_error("the mail server does not answer");
    }
    std::cout << "sent to " << address << '\n';
    if (++sent == 5) {
        std::raise(SIGTERM); // as an administrator would, or the system that shuts down
    }
}

asio::awaitable<void> handle(skein::message mail)
{
    bool succeeded = true;
    try {
        send(mail.payload());
    } catch (const std::exception& failure) {
        std::cout << "not sent to " << mail.payload() << ": " << failure.what() << '\n';
        succeeded = false; // a handler of an exception cannot await
    }
    if (succeeded) {
        co_await mail.ack();
    } else {
        co_await mail.nack(50ms); // the later messages of its group wait for it, others do not
    }
}

asio::awaitable<void> work(skein::transport mails, const bool& stopping)
{
    while (!stopping) {
        auto mail = co_await mails.claim_within(200ms); // how long a stop may take
        if (mail) {
            co_await handle(std::move(*mail));
        }
    }
}

asio::awaitable<void> publish(skein::transport mails)
{
    for (int i = 1; i <= 5; ++i) {
        const std::string address = "user-" + std::to_string(i) + "@example.org";
        co_await mails.publish(address, address);
    }
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "mails.db");
    const skein::transport mails = db.transport();

    bool stopping = false;
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](asio::error_code, int) { stopping = true; });

    for (int i = 0; i < 3; ++i) {
        asio::co_spawn(context, work(mails, stopping), rethrow);
    }
    asio::co_spawn(context, publish(mails), rethrow);
    context.run(); // until the last worker has finished what it had in hand
    return sent == 5 ? 0 : 1;
}
