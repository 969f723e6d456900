// The program behind run_process_test.cpp: a worker in a process of its own, on the public
// interface.
//
//     skein_run_process <database> <places>     works on the queue 'q' until it gets SIGTERM

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>

namespace {

using namespace std::chrono_literals;

/// Writes down that it has run.
asio::awaitable<std::int64_t> note_run(const skein::database& database, const skein::job& job,
                                       std::int64_t number)
{
    const auto note = [&](skein::transaction& tx) {
        SQLite::Statement insert(tx.database(), "INSERT INTO runs (job, attempt) VALUES (?, ?)");
        insert.bind(1, job.id());
        insert.bind(2, job.attempt());
        insert.exec();
    };
    co_await database.transaction(note);
    co_return number;
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 3) {
        return 2;
    }
    int status = 1;
    asio::io_context context;
    const skein::database database(arguments[1], {.durability = skein::durability::off});
    const skein::queue queue = database.queue("q", {.visibility = 1s});
    const auto handler = [&](skein::job& job, std::int64_t number) {
        return note_run(database, job, number);
    };

    asio::cancellation_signal stop;
    asio::signal_set signals(context, SIGTERM);
    signals.async_wait([&](asio::error_code failure, int) {
        if (!failure) {
            stop.emit(asio::cancellation_type::terminal);
        }
    });
    std::cout << "ready\n" << std::flush;
    const auto told = [&](const std::exception_ptr& failure) {
        signals.cancel();
        status = failure ? 1 : 0;
    };
    asio::co_spawn(context, skein::run(queue, handler, {.concurrency = std::stoul(arguments[2])}),
                   asio::bind_cancellation_slot(stop.slot(), told));
    context.run();
    return status;
}
