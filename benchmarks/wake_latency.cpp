// How long after a commit a waiting claim resumes.
//
// another_process: from the moment at which COMMIT has returned in another process, a plain SQLite
// program that notes it in shared memory, to the moment at which the coroutine that waits in
// `claim` runs again (wake_p50_ms, wake_p99_ms). In between is our own commit, since a claim is
// written before it is handed out; so noticed_p50_ms and noticed_p99_ms are the part up to its
// BEGIN, and their_commit_p50_ms, the other process's whole transaction, tells what a commit costs
// on this disk.
//
// in_process: from the call of `publish` to the resumed claim of another coroutine, with the commit
// that both share.
//
// The database has a thread of its own; the coroutines run in another. Between two commits are
// random pauses of 1 to 20 ms, so that they do not ride on the phase of the watcher's timer.

#include "support/child.hpp"
#include "support/create_tables.hpp"
#include "support/raw_transport.hpp"
#include "support/rethrow.hpp"
#include "support/statement_trace.hpp"
#include "support/wakes.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <optional>
#include <stdexcept>

namespace {

using namespace benchmarks;

const std::string payload(100, 'x');

/// The other process.
void publish_when_wanted(const std::string& path, const wake_setting& with, exchange& shared)
{
    shared.wanted.await();
    raw_transport file(path, with.level);
    commit_when_wanted(shared, [&] { file.publish(1, payload); });
}

asio::awaitable<void> receive_from_other(skein::database database, statement_trace& trace,
                                         exchange& shared)
{
    const skein::transport transport = database.transport();
    co_await trace.start(database);
    std::vector<double> noticed;
    std::vector<double> woken;
    for (int number = 1; number <= wakes; ++number) {
        shared.wanted.send();
        std::optional<skein::message> message = co_await transport.claim_within(lost);
        const steady::time_point resumed = steady::now();
        if (!message) {
            throw std::runtime_error("the other process does not publish");
        }
        const steady::time_point committed = time_of_commit(shared, number);
        noticed.push_back(milliseconds_between(committed, trace.last_begin()));
        woken.push_back(milliseconds_between(committed, resumed));
        const bool is_ours = co_await message->ack();
        benchmark::DoNotOptimize(is_ours);
    }
    shared.wanted.send();
    note_wakes(shared, woken);
    shared.noticed_p50 = quantile(counted(noticed), 0.5);
    shared.noticed_p99 = quantile(counted(noticed), 0.99);
}

asio::awaitable<void> publish_after(std::chrono::microseconds pause, skein::transport transport,
                                    steady::time_point& published)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, pause);
    co_await timer.async_wait(asio::use_awaitable);
    published = steady::now();
    co_await transport.publish("group", payload);
}

asio::awaitable<void> receive_from_ourselves(skein::database database, statement_trace& /*trace*/,
                                             exchange& results)
{
    const skein::transport transport = database.transport();
    const auto executor = co_await asio::this_coro::executor;
    std::vector<double> samples;
    random_pause pause;
    steady::time_point published;
    for (int each = 0; each < wakes; ++each) {
        asio::co_spawn(executor, publish_after(pause(), transport, published), rethrow);
        skein::message message = co_await transport.claim();
        samples.push_back(milliseconds_between(published, steady::now()));
        const bool is_ours = co_await message.ack();
        benchmark::DoNotOptimize(is_ours);
    }
    note_wakes(results, samples);
}

/// Runs one of the receiving coroutines on a database of its own.
template <class Receive>
void receive(const std::string& path, const wake_setting& with, exchange& shared, Receive receiving)
{
    create_tables(path);
    asio::io_context io;
    statement_trace trace;
    const skein::database database = open(path, with);
    asio::co_spawn(io, receiving(database, trace, shared), rethrow);
    io.run();
}

void another_process(benchmark::State& state, wake_setting with)
{
    run_wakes(state, [&](const std::string& path, exchange& shared) {
        child publisher([&] { publish_when_wanted(path, with, shared); });
        child receiver([&] { receive(path, with, shared, receive_from_other); });
        receiver.wait();
        publisher.wait();
    });
}

void in_process(benchmark::State& state, wake_setting with)
{
    run_wakes(state, [&](const std::string& path, exchange& results) {
        run_in_child([&] { receive(path, with, results, receive_from_ourselves); });
    });
}

BENCHMARK_CAPTURE(another_process, full_timer, full_timer)->Apply(wake_settings);
BENCHMARK_CAPTURE(another_process, full_hybrid, full_hybrid)->Apply(wake_settings);
BENCHMARK_CAPTURE(another_process, normal_timer, normal_timer)->Apply(wake_settings);
BENCHMARK_CAPTURE(another_process, normal_hybrid, normal_hybrid)->Apply(wake_settings);
BENCHMARK_CAPTURE(in_process, full, full_timer)->Apply(wake_settings);
BENCHMARK_CAPTURE(in_process, normal, normal_timer)->Apply(wake_settings);

} // namespace
