// A web shop in one process: an HTTP server, its orders, and the workers that mail the customers.
// Kill it at any moment and start it again: every order is mailed.
//
//     server <database> <file for the mails> [port]

#include "http_front.hpp"
#include "mailer.hpp"
#include "orders.hpp"

#include "../rethrow.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

namespace {

void warn(skein::log_level level, std::string_view text)
{
    if (level == skein::log_level::warning) {
        std::cerr << text << '\n';
    }
}

/// Works until it is cancelled, and then lets what runs come to its end.
asio::awaitable<void> mail_customers(const order_book& orders, mailer& out)
{
    const auto send = [&out](skein::job& job, order_mail mail) {
        return out.send(job, std::move(mail));
    };
    co_await skein::run(orders.mails(), send,
                        {.concurrency = 8, .visibility = std::chrono::seconds{10}});
}

asio::awaitable<void> close(skein::database db, asio::io_context& io)
{
    co_await db.close(); // those who watch an order are told
    io.stop();
}

/// Everything lives on one io_context and one thread; the database has a thread of its own.
void serve(const std::string& file, const std::string& mails, std::uint16_t port)
{
    asio::io_context io;
    const auto metrics = std::make_shared<prometheus_observer>();
    const skein::database db(file, {.log = warn, .observer = metrics});
    order_book orders(db);
    mailer out(db, orders, mails);
    asio::co_spawn(io, orders.open(), rethrow);
    io.run();
    io.restart();

    asio::cancellation_signal stop;
    const auto when_stopped = [&](std::exception_ptr failure) {
        rethrow(failure);
        asio::co_spawn(io, close(db, io), rethrow);
    };
    asio::co_spawn(io, mail_customers(orders, out),
                   asio::bind_cancellation_slot(stop.slot(), when_stopped));

    http_front front(io, port, orders, *metrics);
    std::cout << "listening on http://127.0.0.1:" << front.port() << std::endl;

    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](asio::error_code failure, int) {
        if (!failure) {
            front.stop();
            stop.emit(asio::cancellation_type::terminal);
        }
    });
    io.run();
}

} // namespace

int main(int argc, char* argv[])
{
    if (argc < 3 || argc > 4) {
        std::cerr << "usage: server <database> <file for the mails> [port]\n";
        return EXIT_FAILURE;
    }
    try {
        const int port = argc == 4 ? std::stoi(argv[3]) : 8080;
        serve(argv[1], argv[2], static_cast<std::uint16_t>(port));
    } catch (const std::exception& failure) {
        std::cerr << "server: " << failure.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
