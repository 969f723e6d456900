// Messages are published to a group, wait in a file, and are claimed in order.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <iostream>

asio::awaitable<void> publish(skein::transport orders)
{
    co_await orders.publish("customer-3", "a spinning wheel");
    co_await orders.publish("customer-3", "and wool for it");
}

asio::awaitable<void> work(skein::transport orders)
{
    for (int i = 0; i < 2; ++i) {
        skein::message order = co_await orders.claim(); // waits until there is one
        std::cout << order.group() << " wants " << order.payload() << '\n';
        co_await order.ack(); // done; a worker that dies before this is followed by another
    }
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "orders.db");
    asio::co_spawn(context, work(db.transport()), rethrow);
    asio::co_spawn(context, publish(db.transport()), rethrow);
    context.run();
}
