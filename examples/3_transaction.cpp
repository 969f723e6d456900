// Your own tables and the messages in one file: a row and its message are written together or not
// at all, and so are a message's effect and its acknowledgement.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <iostream>
#include <stdexcept>
#include <string>

asio::awaitable<void> place_order(skein::database db, skein::transport shipments, int goods)
{
    const auto place = [=](skein::transaction& tx) {
        SQLite::Statement insert(tx.database(), "INSERT INTO orders (goods) VALUES (?)");
        insert.bind(1, goods);
        insert.exec();
        shipments.publish(tx, "customer-3", std::to_string(goods));
        if (goods > 100) {
            throw std::invalid_argument("more than there is"); // neither the row nor the message
        }
    };
    try {
        co_await db.transaction(place);
    } catch (const std::invalid_argument& failure) {
        std::cout << goods << " refused: " << failure.what() << '\n';
    }
}

asio::awaitable<void> ship(skein::database db, skein::transport shipments)
{
    skein::message message = co_await shipments.claim();
    const int goods = std::stoi(std::string(message.payload()));

    // Whoever dies before the commit has shipped nothing, and whoever comes after it finds no
    // message: every shipment is booked exactly once.
    const auto book = [&](skein::transaction& tx) {
        if (!message.ack(tx)) {
            return; // the lease was over, and another worker has the message
        }
        SQLite::Statement update(tx.database(), "UPDATE stock SET goods = goods - ?");
        update.bind(1, goods);
        update.exec();
    };
    co_await db.transaction(book);
}

asio::awaitable<void> trade(skein::database db)
{
    const auto prepare = [](skein::transaction& tx) {
        tx.database().exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, goods INTEGER);"
                           "CREATE TABLE stock (goods INTEGER); INSERT INTO stock VALUES (100)");
    };
    co_await db.transaction(prepare);
    const skein::transport shipments = db.transport();
    co_await place_order(db, shipments, 7);
    co_await place_order(db, shipments, 500);
    co_await ship(db, shipments);

    const auto count_stock = [](const SQLite::Database& file) {
        SQLite::Statement query(file, "SELECT goods FROM stock");
        query.executeStep();
        return query.getColumn(0).getInt();
    };
    const int left = co_await db.read(count_stock);
    std::cout << left << " left in stock\n";
    if (left != 93) {
        throw std::logic_error("the stock is wrong");
    }
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "shop.db");
    asio::co_spawn(context, trade(db), rethrow);
    context.run();
}
