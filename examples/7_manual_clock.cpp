// Testing what takes time without taking the time: a lease lapses when the test says so.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>
#include <skein/testing/manual_clock.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>

using namespace std::chrono_literals;

void expect(bool holds, const char* what)
{
    if (!holds) {
        throw std::logic_error(what);
    }
    std::cout << "as expected, " << what << '\n';
}

asio::awaitable<void> test(skein::transport jobs,
                           std::shared_ptr<skein::testing::manual_clock> time)
{
    co_await jobs.publish("jobs", "reckon the year");
    skein::message slow = co_await jobs.claim("slow worker");

    auto refused = co_await jobs.try_claim("other worker");
    expect(!refused, "a leased message is not given to another worker");

    time->advance(5min + 1s);
    auto taken = co_await jobs.try_claim("other worker");
    expect(taken.has_value(), "a message whose lease has lapsed is");

    const bool slow_finished = co_await slow.ack();
    expect(!slow_finished, "the slow worker learns that it is too late");
    const bool other_finished = co_await taken->ack();
    expect(other_finished, "the other worker finishes it");
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    const auto time = std::make_shared<skein::testing::manual_clock>();
    asio::io_context context;
    const skein::database db(context.get_executor(), directory.path() / "jobs.db", {.clock = time});
    const skein::transport jobs = db.transport({.visibility = 5min});
    asio::co_spawn(context, test(jobs, time), rethrow);
    context.run();
}
