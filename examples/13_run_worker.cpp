// A worker as a service runs it: several handlers at once, another attempt for what has failed, and
// a stop by SIGTERM that leaves nothing half done.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

struct email {
    std::string to;
    std::string subject;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(email, to, subject)

// What it returns is the job's result, kept in the commit that removes the job.
asio::awaitable<std::string> deliver(skein::job& job, email mail)
{
    co_await asio::this_coro::executor; // here it would talk to a server
    if (mail.to.empty()) {
        throw skein::permanent_failure("nobody to send it to"); // a dead letter at once
    }
    if (job.attempt() == 1 && mail.to == "ben@example.org") {
        throw std::runtime_error("the mail server does not answer"); // another attempt, later
    }
    std::cout << "attempt " << job.attempt() << ": sent to " << mail.to << '\n';
    co_return '"' + mail.to + '"';
}

asio::awaitable<void> use(const skein::database& db)
{
    const skein::queue emails = db.queue("emails");
    for (const char* name : {"ann@example.org", "ben@example.org", ""}) {
        const email hello{name, "Hello"};
        const std::int64_t id = co_await emails.enqueue(hello);
        const skein::job_end end = co_await db.results().wait(id);
        std::cout << "job " << id << ": " << (end.result ? *end.result : "none")
                  << (end.death ? ", " + end.death->last_error.value_or("") : "") << '\n';
    }
    std::raise(SIGTERM); // as an administrator would, or the system that shuts down
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "app.db");

    // The first signal asks for a stop, and the worker ends when its handlers have.
    asio::cancellation_signal stop;
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](asio::error_code, int) {
        std::cout << "stopping\n";
        stop.emit(asio::cancellation_type::terminal);
    });

    const skein::worker_options options{.concurrency = 20,
                                        .backoff = {.first = 1s, .most = 1min},
                                        .time_limit = 30s,
                                        .result_ttl = 1h};
    asio::co_spawn(context, skein::run(db.queue("emails"), deliver, options),
                   asio::bind_cancellation_slot(stop.slot(), rethrow));
    asio::co_spawn(context, use(db), rethrow);
    context.run();
}
