// Jobs at set times. Every process of a service may run the scheduler: each moment gets its job
// once.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <system_error>
#include <vector>

asio::awaitable<void> plan(skein::scheduler scheduler)
{
    // Each time the program starts: what is there is replaced.
    co_await scheduler.add("heartbeat", "reports", "@every 1s", R"({"kind":"heartbeat"})",
                           {.expires_in = std::chrono::seconds{10}});
    co_await scheduler.add(
        "report", "reports", "CRON_TZ=Europe/Berlin 0 3 * * MON-FRI", R"({"kind":"daily"})",
        {.missed = skein::missed_moments::once, .overlap = skein::overlap_policy::skip});

    const std::vector<skein::schedule> all = co_await scheduler.list();
    for (const skein::schedule& each : all) {
        std::cout << each.name << ": " << each.expression << '\n';
    }
}

asio::awaitable<int> work(skein::queue reports)
{
    int heartbeats = 0;
    while (heartbeats < 2) {
        skein::job job = co_await reports.claim("worker-1");
        std::cout << "job " << job.id() << ": " << job.payload() << '\n';
        co_await job.ack();
        ++heartbeats;
    }
    co_return heartbeats;
}

asio::awaitable<void> run(skein::database db, asio::cancellation_signal& stop, int& done)
{
    co_await plan(db.scheduler());
    done = co_await work(db.queue("reports"));
    stop.emit(asio::cancellation_type::terminal);
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);
    const skein::database db(directory.path() / "app.db");

    asio::io_context context;
    asio::cancellation_signal stop;
    int done = 0;
    bool was_stopped = false;
    asio::co_spawn(context, run(db, stop, done), rethrow);
    const auto note_end = [&](std::exception_ptr failure) {
        try {
            std::rethrow_exception(failure); // it never ends by itself
        } catch (const std::system_error& end) {
            was_stopped = end.code() == asio::error::operation_aborted;
        }
    };
    asio::co_spawn(context, db.scheduler().run(),
                   asio::bind_cancellation_slot(stop.slot(), note_end));
    context.run();
    return was_stopped && done == 2 ? 0 : 1;
}
