// An outbox: a service that has a SQLite connection of its own writes an order and what follows
// from it in one transaction. A worker gets the job, and a broker the event, if and when that is
// committed.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>

#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

/// The service: it knows the file and the names, and has no `skein::database`.
class shop {
public:
    explicit shop(const std::filesystem::path& file)
        : connection_(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 5000),
          outbox_(connection_)
    {
        connection_.exec("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, goods)");
    }

    void place_order(int goods)
    {
        SQLite::Transaction both(connection_, SQLite::TransactionBehavior::IMMEDIATE);
        SQLite::Statement insert(connection_, "INSERT INTO orders (goods) VALUES (?)");
        insert.bind(1, goods);
        insert.exec();
        outbox_.enqueue("shipments", std::to_string(goods));
        outbox_.publish_event("orders", std::to_string(goods));
        if (goods > 100) {
            throw std::invalid_argument("more than there is"); // neither the row nor the others
        }
        both.commit();
    }

private:
    SQLite::Database connection_;
    skein::outbox outbox_; // ends before its connection
};

/// Waits for an order, in the same process or in another.
asio::awaitable<void> ship(skein::queue shipments)
{
    skein::job job = co_await shipments.claim();
    std::cout << "shipping " << job.payload() << '\n';
    if (job.payload() != "7") {
        throw std::logic_error("an order that was rolled back is shipped");
    }
    co_await job.ack();
}

/// Carries the events on to a broker, each at least once and in order.
asio::awaitable<void> inform(skein::stream orders, std::vector<std::string>& broker,
                             asio::cancellation_signal& done)
{
    const auto send = [&](const skein::relayed_event& each) -> asio::awaitable<void> {
        broker.push_back(each.id + ": " + each.event.payload); // a real one is awaited
        done.emit(asio::cancellation_type::terminal); // the relay ends when this one is saved
        co_return;
    };
    try {
        co_await orders.relay("broker").run(send);
    } catch (const std::system_error& end) {
        if (end.code() != asio::error::operation_aborted) {
            throw;
        }
    }
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);
    const std::filesystem::path file = directory.path() / "shop.db";

    asio::io_context context;
    asio::cancellation_signal done;
    std::vector<std::string> broker;
    const skein::database db(context.get_executor(), file);
    asio::co_spawn(context, inform(db.stream("orders"), broker, done),
                   asio::bind_cancellation_slot(done.slot(), rethrow));
    asio::co_spawn(context, ship(db.queue("shipments")), rethrow);
    context.poll(); // both wait

    shop service(file);
    try {
        service.place_order(500);
    } catch (const std::invalid_argument& failure) {
        std::cout << "500 refused: " << failure.what() << '\n';
    }
    service.place_order(7);

    context.run();
    for (const std::string& each : broker) {
        std::cout << "the broker has got " << each << '\n';
    }
    if (broker.size() != 1) {
        throw std::logic_error("the broker has not got the one order");
    }
}
