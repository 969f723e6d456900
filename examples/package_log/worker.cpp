#include "worker.hpp"

#include "../rethrow.hpp"
#include "ledger.hpp"
#include "queue.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <csignal>
#include <exception>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace package_log {
namespace {

using namespace std::chrono_literals;

constexpr int coroutines = 64;

/// Stands for what a worker does with an event that is not done in the database: a request, a mail.
constexpr auto other_work = 2ms;

asio::awaitable<void> do_other_work()
{
    asio::steady_timer timer(co_await asio::this_coro::executor, other_work);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> process_one(skein::database db, skein::message message, std::string worker)
{
    const auto begin = [&](skein::transaction& tx) {
        ledger::note_delivery(tx.database(), message.seq(), worker);
    };
    co_await db.transaction(begin);
    const auto event = message.payload<package_event>();
    co_await do_other_work();

    // The effect and the acknowledgement are one commit: killed before it, the event is delivered
    // again and has had no effect; killed after it, it is not delivered again.
    const auto finish = [&](skein::transaction& tx) {
        const bool ours = message.ack(tx); // false if this worker was too slow, and another has it
        if (ours) {
            const std::string package(message.group());
            ledger::process(tx.database(), message.seq(), worker, package, event);
        }
    };
    co_await db.transaction(finish);
}

asio::awaitable<void> work(skein::database db, std::string worker)
{
    const skein::transport events = db.transport(queue_options);
    for (;;) {
        try {
            skein::message message = co_await events.claim(worker);
            co_await process_one(db, std::move(message), worker);
        } catch (const skein::error& failure) {
            if (!failure.is_retryable()) {
                throw;
            }
            // The others held the lock for too long. The message, if there is one, comes back.
        }
    }
}

/// A closed database is how a worker is told to stop.
void stop_when_closed(std::exception_ptr end)
{
    try {
        rethrow(end);
    } catch (const skein::error& failure) {
        if (failure.code() != skein::errc::closed) {
            throw;
        }
    }
}

asio::awaitable<void> start(skein::database db, std::string worker)
{
    const auto sign_in = [&](skein::transaction& tx) { ledger::sign_in(tx.database(), worker); };
    co_await db.transaction(sign_in);
    const auto executor = co_await asio::this_coro::executor;
    for (int i = 0; i < coroutines; ++i) {
        asio::co_spawn(executor, work(db, worker), stop_when_closed);
    }
}

} // namespace

void run_worker(const std::filesystem::path& database, const std::string& name)
{
#ifdef __linux__
    ::prctl(PR_SET_PDEATHSIG, SIGTERM); // nobody else would stop a worker whose parent was killed
#endif
    asio::io_context context;
    const skein::database db(database);

    std::signal(SIGINT, SIG_IGN); // goes to all processes of the terminal; the parent decides
    std::signal(SIGHUP, SIG_IGN);
    asio::signal_set signals(context, SIGTERM);
    signals.async_wait([&](asio::error_code failure, int) {
        if (!failure) {
            asio::co_spawn(context, db.close(), rethrow);
        }
    });
    asio::co_spawn(context, start(db, name), stop_when_closed);
    context.run();
}

} // namespace package_log
