// How long the event loop of a server stands still while the same process works on a queue as fast
// as it can: 256 places of skein::run, and as many jobs enqueued as are done. A timer of the loop
// is due every millisecond; how late it comes is what a request would have waited.
//
// With a thread of its own, the database leaves the loop alone but for what the coroutines do
// themselves; on the caller's executor, every statement and every commit is a stall.
//
// longest_ms, p99_ms: how late the timer was; jobs_per_second: what was done meanwhile. "idle" is
// the loop with nothing to do: what the machine itself does to it.

#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"
#include "support/settings.hpp"

#include <skein/skein.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace benchmarks;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr auto measured = 3s;
constexpr std::size_t places = 256;
const std::string payload = '"' + std::string(98, 'x') + '"';

/// What a request of the server would have waited, in milliseconds, time after time.
asio::awaitable<void> tick(asio::io_context& io, std::vector<double>& late)
{
    asio::steady_timer timer(io);
    const clock_type::time_point end = clock_type::now() + measured;
    for (auto due = clock_type::now() + 1ms; due < end; due = clock_type::now() + 1ms) {
        timer.expires_at(due);
        co_await timer.async_wait(asio::use_awaitable);
        late.push_back(std::chrono::duration<double, std::milli>(clock_type::now() - due).count());
    }
}

asio::awaitable<void> enqueue(skein::queue queue, std::size_t count)
{
    const std::vector<skein::new_job> jobs(count, skein::new_job{payload});
    const std::vector<skein::enqueued_job> enqueued = co_await queue.enqueue_many(jobs);
    benchmark::DoNotOptimize(enqueued.data());
}

/// Each job that is done puts another one into the queue, for as long as it is measured.
asio::awaitable<void> work(skein::queue queue, std::size_t& done)
{
    const auto handler = [&done, queue](std::string_view text) -> asio::awaitable<void> {
        co_await queue.enqueue(text);
        ++done;
    };
    co_await skein::run(queue, handler, {.concurrency = places});
}

void report(benchmark::State& state, std::vector<double> late, std::size_t done)
{
    std::ranges::sort(late);
    state.counters["longest_ms"] = late.back();
    state.counters["p99_ms"] = late[late.size() * 99 / 100];
    state.counters["jobs_per_second"] =
        static_cast<double>(done) / std::chrono::duration<double>(measured).count();
}

void idle(benchmark::State& state)
{
    for (auto _ : state) {
        asio::io_context io;
        std::vector<double> late;
        asio::co_spawn(io, tick(io, late), rethrow);
        io.run();
        report(state, std::move(late), 0);
    }
}

void loaded(benchmark::State& state, setting with)
{
    for (auto _ : state) {
        asio::io_context io;
        const scratch_file file;
        const skein::database database = open(with, io, file.path());
        const skein::queue queue = database.queue("q");
        asio::co_spawn(io, enqueue(queue, 2 * places), rethrow);
        io.run();
        io.restart();

        std::vector<double> late;
        std::size_t done = 0;
        asio::cancellation_signal stop;
        asio::co_spawn(io, work(queue, done), asio::bind_cancellation_slot(stop.slot(), rethrow));
        asio::co_spawn(io, tick(io, late), [&](const std::exception_ptr& failure) {
            rethrow(failure);
            stop.emit(asio::cancellation_type::terminal);
        });
        io.run();
        report(state, std::move(late), done);
    }
}

void once(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Iterations(1)->Unit(benchmark::kMillisecond);
}

BENCHMARK(idle)->Apply(once);
BENCHMARK_CAPTURE(loaded, full / own_thread, full_own)->Apply(once);
BENCHMARK_CAPTURE(loaded, full / callers_executor, full_callers)->Apply(once);
BENCHMARK_CAPTURE(loaded, normal / own_thread, normal_own)->Apply(once);
BENCHMARK_CAPTURE(loaded, normal / callers_executor, normal_callers)->Apply(once);

} // namespace
