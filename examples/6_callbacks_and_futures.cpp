// For code without coroutines: every operation is an awaitable, and asio::co_spawn runs an
// awaitable for whoever wants a future or a callback.

#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>

#include <exception>
#include <future>
#include <iostream>
#include <memory>

void publish_and_wait(asio::thread_pool& pool, const skein::transport& orders)
{
    asio::co_spawn(pool, orders.publish("customer-3", "a spinning wheel"), asio::use_future).get();
    asio::co_spawn(pool, orders.publish("customer-3", "and wool for it"), asio::use_future).get();
}

void claim_with_a_future(asio::thread_pool& pool, const skein::transport& orders)
{
    std::future<skein::message> claimed = asio::co_spawn(pool, orders.claim(), asio::use_future);
    skein::message order = claimed.get(); // throws what the claim throws
    std::cout << "by future: " << order.payload() << '\n';
    asio::co_spawn(pool, order.ack(), asio::use_future).get();
}

void claim_with_a_callback(asio::thread_pool& pool, const skein::transport& orders,
                           std::promise<bool>& done)
{
    auto on_claimed = [&pool, &done](std::exception_ptr failure, skein::message claimed) {
        if (failure) {
            done.set_exception(failure);
            return;
        }
        std::cout << "by callback: " << claimed.payload() << '\n';
        // The handle has to live until the acknowledgement is there.
        const auto order = std::make_shared<skein::message>(std::move(claimed));
        auto on_acknowledged = [order, &done](std::exception_ptr problem, bool acknowledged) {
            if (problem) {
                done.set_exception(problem);
            } else {
                done.set_value(acknowledged);
            }
        };
        asio::co_spawn(pool, order->ack(), std::move(on_acknowledged));
    };
    asio::co_spawn(pool, orders.claim(), std::move(on_claimed));
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::thread_pool pool(1);
    const skein::database db(directory.path() / "orders.db");
    const skein::transport orders = db.transport();
    publish_and_wait(pool, orders);
    claim_with_a_future(pool, orders);

    std::promise<bool> done;
    claim_with_a_callback(pool, orders, done);
    const bool acknowledged = done.get_future().get();
    pool.join();
    return acknowledged ? 0 : 1;
}
