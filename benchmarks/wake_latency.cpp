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
#include "support/quantile.hpp"
#include "support/raw_transport.hpp"
#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"
#include "support/shared.hpp"
#include "support/statement_trace.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using benchmarks::child;
using benchmarks::quantile;
using benchmarks::raw_transport;
using benchmarks::rethrow;
using benchmarks::scratch_file;
using benchmarks::shared;
using benchmarks::statement_trace;

// CLOCK_MONOTONIC, which all processes share.
using clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr int wakes = 500;
constexpr int wakes_before = 20;
constexpr std::chrono::seconds lost{30};
const std::string payload(100, 'x');

struct setting {
    skein::durability level;
    skein::watch watch;
};

/// What the processes tell each other.
struct exchange {
    benchmarks::signals wanted;
    std::atomic<int> commits{0};
    std::atomic<clock::time_point> committed_at{};

    // The results, in milliseconds.
    double wake_p50 = 0;
    double wake_p99 = 0;
    double noticed_p50 = 0;
    double noticed_p99 = 0;
    double commit_p50 = 0;
};

class random_pause {
public:
    microseconds operator()() { return microseconds(between_(random_)); }

private:
    std::minstd_rand random_{std::random_device{}()};
    std::uniform_int_distribution<int> between_{1'000, 20'000};
};

double milliseconds_between(clock::time_point start, clock::time_point end)
{
    return std::chrono::duration<double, std::milli>(end - start).count();
}

skein::database open(const std::string& path, const setting& with)
{
    skein::database_options options;
    options.durability = with.level;
    options.watch = with.watch;
    return skein::database(path, options);
}

/// The first wakes are not counted: statements are prepared in them, pages are read.
std::vector<double> counted(std::vector<double> samples)
{
    samples.erase(samples.begin(), samples.begin() + wakes_before);
    return samples;
}

void note_wakes(exchange& results, const std::vector<double>& samples)
{
    results.wake_p50 = quantile(counted(samples), 0.5);
    results.wake_p99 = quantile(counted(samples), 0.99);
}

/// The other process: publishes after a pause whenever it is asked to.
void publish_when_wanted(const std::string& path, const setting& with, exchange& shared)
{
    shared.wanted.await();
    raw_transport file(path, with.level);
    random_pause pause;
    std::vector<double> took;
    for (int each = 0; each < wakes; ++each) {
        std::this_thread::sleep_for(pause());
        const clock::time_point start = clock::now();
        file.publish(1, payload);
        shared.committed_at = clock::now();
        ++shared.commits;
        took.push_back(milliseconds_between(start, shared.committed_at));
        shared.wanted.await();
    }
    shared.commit_p50 = quantile(took, 0.5);
}

/// The claim may resume before COMMIT has returned over there.
clock::time_point time_of_commit(const exchange& shared, int number)
{
    while (shared.commits < number) {
        std::this_thread::yield();
    }
    return shared.committed_at;
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
        const clock::time_point resumed = clock::now();
        if (!message) {
            throw std::runtime_error("the other process does not publish");
        }
        const clock::time_point committed = time_of_commit(shared, number);
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

asio::awaitable<void> publish_after(microseconds pause, skein::transport transport,
                                    clock::time_point& published)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, pause);
    co_await timer.async_wait(asio::use_awaitable);
    published = clock::now();
    co_await transport.publish("group", payload);
}

asio::awaitable<void> receive_from_ourselves(skein::database database, statement_trace& /*trace*/,
                                             exchange& results)
{
    const skein::transport transport = database.transport();
    const auto executor = co_await asio::this_coro::executor;
    std::vector<double> samples;
    random_pause pause;
    clock::time_point published;
    for (int each = 0; each < wakes; ++each) {
        asio::co_spawn(executor, publish_after(pause(), transport, published), rethrow);
        skein::message message = co_await transport.claim();
        samples.push_back(milliseconds_between(published, clock::now()));
        const bool is_ours = co_await message.ack();
        benchmark::DoNotOptimize(is_ours);
    }
    note_wakes(results, samples);
}

/// Runs one of the receiving coroutines on a database of its own.
template <class Receive>
void receive(const std::string& path, const setting& with, exchange& shared, Receive receiving)
{
    benchmarks::create_tables(path);
    asio::io_context io;
    statement_trace trace;
    const skein::database database = open(path, with);
    asio::co_spawn(io, receiving(database, trace, shared), rethrow);
    io.run();
}

void report(benchmark::State& state, const exchange& results)
{
    state.SetIterationTime(results.wake_p50 / 1e3);
    state.counters["wake_p50_ms"] = results.wake_p50;
    state.counters["wake_p99_ms"] = results.wake_p99;
    if (results.commit_p50 != 0) {
        state.counters["noticed_p50_ms"] = results.noticed_p50;
        state.counters["noticed_p99_ms"] = results.noticed_p99;
        state.counters["their_commit_p50_ms"] = results.commit_p50;
    }
}

template <class Measure>
void run(benchmark::State& state, Measure measure)
{
    for (auto _ : state) {
        try {
            const shared<exchange> results;
            const scratch_file file;
            measure(file.path(), *results);
            report(state, *results);
        } catch (const std::exception& failure) {
            state.SkipWithError(failure.what());
        }
    }
}

void another_process(benchmark::State& state, setting with)
{
    run(state, [&](const std::string& path, exchange& shared) {
        child publisher([&] { publish_when_wanted(path, with, shared); });
        child receiver([&] { receive(path, with, shared, receive_from_other); });
        receiver.wait();
        publisher.wait();
    });
}

void in_process(benchmark::State& state, setting with)
{
    run(state, [&](const std::string& path, exchange& results) {
        benchmarks::run_in_child([&] { receive(path, with, results, receive_from_ourselves); });
    });
}

constexpr setting full_timer{skein::durability::full, skein::watch::timer};
constexpr setting full_hybrid{skein::durability::full, skein::watch::hybrid};
constexpr setting normal_timer{skein::durability::normal, skein::watch::timer};
constexpr setting normal_hybrid{skein::durability::normal, skein::watch::hybrid};

void settings(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(another_process, full_timer, full_timer)->Apply(settings);
BENCHMARK_CAPTURE(another_process, full_hybrid, full_hybrid)->Apply(settings);
BENCHMARK_CAPTURE(another_process, normal_timer, normal_timer)->Apply(settings);
BENCHMARK_CAPTURE(another_process, normal_hybrid, normal_hybrid)->Apply(settings);
BENCHMARK_CAPTURE(in_process, full, full_timer)->Apply(settings);
BENCHMARK_CAPTURE(in_process, normal, normal_timer)->Apply(settings);

} // namespace
