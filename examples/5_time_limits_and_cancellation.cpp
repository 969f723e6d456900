// Waiting for a limited time, and giving up waiting, without losing a message.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

asio::awaitable<void> pause(std::chrono::microseconds length)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

// A limit needs no timer.
asio::awaitable<void> wait_within_a_limit(skein::transport jobs)
{
    const auto job = co_await jobs.claim_within(20ms);
    std::cout << "within 20 ms there was " << (job ? "a job\n" : "nothing\n");
}

// Whatever else a program waits for can race with a claim. The claim may have its message already
// when the other side wins; the handle that nobody takes then gives the message back at once.
asio::awaitable<int> race(skein::transport jobs)
{
    int losses = 0;
    for (int tries = 0;; ++tries) {
        auto winner = co_await (jobs.claim() || pause(std::chrono::microseconds(tries * 50)));
        if (auto* job = std::get_if<skein::message>(&winner)) {
            const bool acknowledged = co_await job->ack();
            if (!acknowledged) {
                throw std::logic_error("the lease was lost");
            }
            co_return losses;
        }
        ++losses;
    }
}

asio::awaitable<void> run(skein::transport jobs)
{
    co_await wait_within_a_limit(jobs);
    for (int i = 0; i < 20; ++i) {
        co_await jobs.publish("jobs", "one");
        const int losses = co_await race(jobs);
        std::cout << losses << ' ';
    }
    std::cout << "races were lost before each of 20 jobs was done, and no job with them\n";
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "jobs.db");
    asio::co_spawn(context, run(db.transport()), rethrow);
    context.run();
}
