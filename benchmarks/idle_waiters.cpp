// What it costs that many coroutines wait.
//
// idle: 1,000 coroutines wait in `claim` for 10 s in which nothing happens. cpu_percent is the
// processor time of the whole process, in percent of one core; sql_statements are all statements on
// the database's connection; bytes_written is what the process has given to write(2) (wchar of
// /proc/self/io, which includes wake-ups of its own threads) and storage_bytes_written what it has
// caused to be written to storage.
//
// serving: so many coroutines wait, then as many messages are published, each to a group of its
// own, 1,000 in a commit. bytes_per_waiter is the growth of the heap for one waiting coroutine, its
// own frame included; messages_per_second counts from the first publish to the last claim that
// resumes. Durability full.

#include "support/child.hpp"
#include "support/create_tables.hpp"
#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"
#include "support/shared.hpp"
#include "support/statement_trace.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace {

using benchmarks::rethrow;
using benchmarks::scratch_file;
using benchmarks::shared;
using benchmarks::statement_trace;
using clock = std::chrono::steady_clock;
using std::chrono::duration;

constexpr std::size_t idle_waiters = 1'000;
constexpr std::chrono::seconds idle_time{10};
// Until everything has come to rest.
constexpr std::chrono::seconds settling_time{1};
constexpr std::size_t published_together = 1'000;

asio::awaitable<void> wait_for_one(skein::transport transport, std::size_t& served)
{
    skein::message message = co_await transport.claim();
    const skein::message_fence fence = message.detach();
    benchmark::DoNotOptimize(fence);
    ++served;
}

asio::awaitable<void> note_arrival(skein::database database, statement_trace& trace,
                                   bool& has_arrived)
{
    // What was asked for before this has its place by then.
    co_await trace.start(database);
    has_arrived = true;
}

/// Waiters on a database, in this thread.
class waiting_room {
public:
    waiting_room(const std::string& path, skein::watch watch) : database_(path, options(watch)) {}

    /// Returns when all of them wait.
    void add(std::size_t waiters)
    {
        for (std::size_t each = 0; each < waiters; ++each) {
            asio::co_spawn(io_, wait_for_one(transport_, served_), rethrow);
        }
        bool has_arrived = false;
        asio::co_spawn(io_, note_arrival(database_, trace_, has_arrived), rethrow);
        while (!has_arrived) {
            io_.run_one();
        }
    }

    [[nodiscard]] asio::io_context& io() noexcept { return io_; }
    [[nodiscard]] const skein::transport& transport() const noexcept { return transport_; }
    [[nodiscard]] const statement_trace& trace() const noexcept { return trace_; }
    [[nodiscard]] std::size_t served() const noexcept { return served_; }

private:
    static skein::database_options options(skein::watch watch)
    {
        skein::database_options result;
        result.watch = watch;
        return result;
    }

    asio::io_context io_;
    // Otherwise it would stop whenever there is nothing to do.
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    std::size_t served_ = 0;
    statement_trace trace_;
    skein::database database_;
    skein::transport transport_ = database_.transport();
};

/// What this process has used so far.
struct usage {
    double processor_seconds = 0;
    double bytes_written = 0;
    double storage_bytes_written = 0;
};

double seconds(const timeval& time)
{
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

usage usage_now()
{
    usage result;
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    result.processor_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);

    std::ifstream counts("/proc/self/io");
    std::string name;
    for (double value = 0; counts >> name >> value;) {
        if (name == "wchar:") {
            result.bytes_written = value;
        } else if (name == "write_bytes:") {
            result.storage_bytes_written = value;
        }
    }
    return result;
}

struct idle_results {
    usage used;
    long statements = 0;
};

void wait_idly(const std::string& path, skein::watch watch, idle_results& results)
{
    benchmarks::create_tables(path);
    waiting_room room(path, watch);
    room.add(idle_waiters);
    room.io().run_for(settling_time);

    const usage before = usage_now();
    const long statements_before = room.trace().statements();
    room.io().run_for(idle_time);
    const usage after = usage_now();
    results.statements = room.trace().statements() - statements_before;
    results.used.processor_seconds = after.processor_seconds - before.processor_seconds;
    results.used.bytes_written = after.bytes_written - before.bytes_written;
    results.used.storage_bytes_written = after.storage_bytes_written - before.storage_bytes_written;
}

void idle(benchmark::State& state, skein::watch watch)
{
    for (auto _ : state) {
        try {
            const shared<idle_results> results;
            const scratch_file file;
            benchmarks::run_in_child([&] { wait_idly(file.path(), watch, *results); });
            const double length = duration<double>(idle_time).count();
            state.SetIterationTime(length);
            state.counters["cpu_percent"] = 100 * results->used.processor_seconds / length;
            state.counters["sql_statements"] = static_cast<double>(results->statements);
            state.counters["bytes_written"] = results->used.bytes_written;
            state.counters["storage_bytes_written"] = results->used.storage_bytes_written;
        } catch (const std::exception& failure) {
            state.SkipWithError(failure.what());
        }
    }
}

asio::awaitable<void> publish(skein::transport transport, std::size_t count)
{
    std::vector<std::string> groups;
    for (std::size_t each = 0; each < count; ++each) {
        groups.push_back("group-" + std::to_string(each));
    }
    for (std::size_t first = 0; first < count; first += published_together) {
        std::vector<skein::publication> together;
        for (std::size_t each = first; each < std::min(count, first + published_together); ++each) {
            together.push_back({.group = groups[each], .payload = "m"});
        }
        co_await transport.publish_many(together);
    }
}

double heap()
{
    const struct mallinfo2 now = ::mallinfo2();
    return static_cast<double>(now.uordblks + now.hblkhd);
}

struct serving_results {
    double bytes = 0;
    double seconds = 0;
};

void serve(const std::string& path, std::size_t waiters, serving_results& results)
{
    benchmarks::create_tables(path);
    waiting_room room(path, skein::watch::timer);
    room.add(0);
    const double before = heap();
    room.add(waiters);
    results.bytes = heap() - before;

    const clock::time_point start = clock::now();
    asio::co_spawn(room.io(), publish(room.transport(), waiters), rethrow);
    while (room.served() < waiters) {
        room.io().run_one();
    }
    results.seconds = duration<double>(clock::now() - start).count();
}

void serving(benchmark::State& state)
{
    const auto waiters = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        try {
            const shared<serving_results> results;
            const scratch_file file;
            benchmarks::run_in_child([&] { serve(file.path(), waiters, *results); });
            state.SetIterationTime(results->seconds);
            state.counters["bytes_per_waiter"] = results->bytes / static_cast<double>(waiters);
            state.counters["messages_per_second"] = static_cast<double>(waiters) / results->seconds;
        } catch (const std::exception& failure) {
            state.SkipWithError(failure.what());
        }
    }
}

void settings(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(idle, timer, skein::watch::timer)->Apply(settings);
BENCHMARK_CAPTURE(idle, hybrid, skein::watch::hybrid)->Apply(settings);
BENCHMARK(serving)->ArgName("waiters")->Arg(1'000)->Arg(100'000)->Apply(settings);

} // namespace
