// Payloads as values: a type that nlohmann::json can convert is published and claimed as it is.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <iostream>
#include <string>

struct reading {
    std::string sensor;
    double celsius = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(reading, sensor, celsius)

asio::awaitable<void> publish(skein::transport readings)
{
    // Named before it is awaited: g++ 12 destroys such a temporary twice inside co_await, so skein
    // refuses to compile it there.
    const reading kitchen{.sensor = "kitchen", .celsius = 21.5};
    co_await readings.publish("house-1", kitchen);

    nlohmann::json cellar;
    cellar["sensor"] = "cellar";
    cellar["celsius"] = 12;
    co_await readings.publish("house-1", cellar);

    co_await readings.publish("house-1", "a text that is no JSON");
}

asio::awaitable<void> work(skein::transport readings)
{
    for (int i = 0; i < 3; ++i) {
        skein::message message = co_await readings.claim();
        try {
            const auto value = message.payload<reading>();
            std::cout << value.sensor << ": " << value.celsius << " °C\n";
        } catch (const skein::error& failure) {
            if (failure.code() != skein::errc::invalid_payload) {
                throw;
            }
            // No later try would read it either, and it would block its group for good.
            std::cout << "put aside: " << message.payload() << '\n';
        }
        co_await message.ack();
    }
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "readings.db");
    asio::co_spawn(context, work(db.transport()), rethrow);
    asio::co_spawn(context, publish(db.transport()), rethrow);
    context.run();
}
