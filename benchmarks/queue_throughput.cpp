// Enqueue, and claim + ack, by 1, 64 and 512 coroutines at once, and enqueue_many of 100,000 jobs
// in one call, beside a plain SQLite loop that runs the same statements with as many jobs in each
// transaction, in the same run on the same disk.
//
// items_per_second is skein's; raw_per_second the plain loop's; of_raw the ratio of the two.

#include "support/raw_queue.hpp"
#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"
#include "support/settings.hpp"
#include "support/side_by_side.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace {

using namespace benchmarks;

const std::string payload = '"' + std::string(98, 'x') + '"';

asio::awaitable<void> enqueue(skein::queue queue)
{
    const std::int64_t id = co_await queue.enqueue(payload);
    benchmark::DoNotOptimize(id);
}

asio::awaitable<void> enqueue_many(skein::queue queue, std::size_t count)
{
    const std::vector<skein::new_job> jobs(count, skein::new_job{payload});
    const std::vector<skein::enqueued_job> ids = co_await queue.enqueue_many(jobs);
    benchmark::DoNotOptimize(ids.data());
}

asio::awaitable<void> claim_and_ack(skein::queue queue)
{
    skein::job job = co_await queue.claim();
    benchmark::DoNotOptimize(job.payload().data());
    const bool is_ours = co_await job.ack();
    benchmark::DoNotOptimize(is_ours);
}

/// Lets as many coroutines do the same at once.
template <class Coroutine>
void run_all(asio::io_context& io, std::size_t coroutines, Coroutine coroutine)
{
    for (std::size_t each = 0; each < coroutines; ++each) {
        asio::co_spawn(io, coroutine(), rethrow);
    }
    io.restart();
    io.run();
}

void enqueuing(benchmark::State& state, setting with)
{
    const auto coroutines = static_cast<std::size_t>(state.range(0));
    asio::io_context io;
    const scratch_file file;
    const skein::database database = open(with, io, file.path());
    const skein::queue queue = database.queue("q");
    run_all(io, coroutines, [&] { return enqueue(queue); });
    raw_queue raw(file.path(), with.level);
    compare(
        state, coroutines, [&] { run_all(io, coroutines, [&] { return enqueue(queue); }); },
        [&] { raw.enqueue(coroutines, payload); }, [] {});
}

void claiming(benchmark::State& state, setting with)
{
    const auto coroutines = static_cast<std::size_t>(state.range(0));
    asio::io_context io;
    const scratch_file file;
    const skein::database database = open(with, io, file.path());
    const skein::queue queue = database.queue("q");
    run_all(io, coroutines, [&] { return enqueue(queue); });
    raw_queue raw(file.path(), with.level);
    for (int each = 0; each < 200; ++each) {
        raw.enqueue(coroutines, payload);
    }
    const auto refill = [&] {
        raw.enqueue(coroutines, payload);
        raw.enqueue(coroutines, payload);
    };
    compare(
        state, coroutines, [&] { run_all(io, coroutines, [&] { return claim_and_ack(queue); }); },
        [&] { raw.claim_and_ack(coroutines); }, refill);
}

void enqueuing_many(benchmark::State& state, setting with)
{
    const auto jobs = static_cast<std::size_t>(state.range(0));
    asio::io_context io;
    const scratch_file file;
    const skein::database database = open(with, io, file.path());
    const skein::queue queue = database.queue("q");
    run_all(io, 1, [&] { return enqueue(queue); });
    raw_queue raw(file.path(), with.level);
    compare(
        state, jobs, [&] { run_all(io, 1, [&] { return enqueue_many(queue, jobs); }); },
        [&] { raw.enqueue(jobs, payload); }, [] {});
}

void sizes(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Arg(1)->Arg(64)->Arg(512)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(enqueuing, full / own_thread, full_own)->Apply(sizes);
BENCHMARK_CAPTURE(enqueuing, full / callers_executor, full_callers)->Apply(sizes);
BENCHMARK_CAPTURE(enqueuing, normal / own_thread, normal_own)->Apply(sizes);
BENCHMARK_CAPTURE(enqueuing, normal / callers_executor, normal_callers)->Apply(sizes);
BENCHMARK_CAPTURE(claiming, full / own_thread, full_own)->Apply(sizes);
BENCHMARK_CAPTURE(claiming, full / callers_executor, full_callers)->Apply(sizes);
BENCHMARK_CAPTURE(claiming, normal / own_thread, normal_own)->Apply(sizes);
BENCHMARK_CAPTURE(claiming, normal / callers_executor, normal_callers)->Apply(sizes);
BENCHMARK_CAPTURE(enqueuing_many, full / own_thread, full_own)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
