// Metrics: an observer is told what the database does, and makes Prometheus' text form of it.

#include "prometheus_observer.hpp"
#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <iostream>
#include <memory>

/// Every third mail has no address.
asio::awaitable<void> enqueue(skein::queue emails)
{
    for (int number = 1; number <= 6; ++number) {
        const nlohmann::json mail{{"number", number}, {"has_address", number % 3 != 0}};
        co_await emails.enqueue(mail, {.max_attempts = 2});
    }
}

asio::awaitable<void> work(skein::queue emails)
{
    while (auto job = co_await emails.try_claim()) {
        const auto mail = job->payload<nlohmann::json>();
        if (mail.at("has_address")) {
            co_await job->ack();
        } else {
            co_await job->retry({}, "no address");
        }
    }
}

asio::awaitable<void> run(skein::queue emails)
{
    co_await enqueue(emails);
    co_await work(emails);
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    const auto metrics = std::make_shared<prometheus_observer>();
    asio::io_context context;
    const skein::database db(directory.path() / "app.db", {.observer = metrics});
    asio::co_spawn(context, run(db.queue("emails")), rethrow);
    context.run();
    std::cout << metrics->text(); // a server answers GET /metrics with this
}
