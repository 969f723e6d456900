// Jobs done by skein::run with 1, 16 and 256 places, beside a loop that is written by hand on the
// same interface and does nothing else: claim_many for as many jobs, ack_many, and again. Both in
// turns, on the same disk. The handlers do nothing, so that all of it is what a job costs.
//
// items_per_second is run's; raw_per_second the loop's; of_raw the ratio of the two.

#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"
#include "support/settings.hpp"
#include "support/side_by_side.hpp"

#include <skein/skein.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace benchmarks;

const std::string payload = '"' + std::string(98, 'x') + '"';

asio::awaitable<void> enqueue(skein::queue queue, std::size_t count)
{
    const std::vector<skein::new_job> jobs(count, skein::new_job{payload});
    const std::vector<skein::enqueued_job> ids = co_await queue.enqueue_many(jobs);
    benchmark::DoNotOptimize(ids.data());
}

asio::awaitable<void> loop(skein::queue queue, std::size_t places, std::size_t count)
{
    for (std::size_t done = 0; done < count;) {
        const std::vector<skein::job> jobs = co_await queue.claim_many(places);
        for (const skein::job& each : jobs) {
            benchmark::DoNotOptimize(each.payload().data());
        }
        const std::vector<bool> are_ours = co_await queue.ack_many(jobs);
        done += are_ours.size();
    }
}

/// Runs until so many jobs are done, and stops.
void run(asio::io_context& io, const skein::queue& queue, std::size_t places, std::size_t count)
{
    asio::cancellation_signal stop;
    const auto handler = [&](std::string_view text) -> asio::awaitable<void> {
        benchmark::DoNotOptimize(text.data());
        if (--count == 0) {
            stop.emit(asio::cancellation_type::terminal);
        }
        co_return;
    };
    asio::co_spawn(io, skein::run(queue, handler, {.concurrency = places}),
                   asio::bind_cancellation_slot(stop.slot(), rethrow));
    io.restart();
    io.run();
}

void complete(asio::io_context& io, asio::awaitable<void> work)
{
    asio::co_spawn(io, std::move(work), rethrow);
    io.restart();
    io.run();
}

void working(benchmark::State& state, setting with)
{
    const auto places = static_cast<std::size_t>(state.range(0));
    const std::size_t jobs = std::min<std::size_t>(places * 64, 4096);
    const std::size_t supply = 2 * (jobs + places); // run does those, too, that it has at the stop
    asio::io_context io;
    const scratch_file file;
    const skein::database database = open(with, io, file.path());
    const skein::queue queue = database.queue("q");
    complete(io, enqueue(queue, supply));
    compare(
        state, jobs, [&] { run(io, queue, places, jobs); },
        [&] { complete(io, loop(queue, places, jobs)); },
        [&] { complete(io, enqueue(queue, supply)); });
}

void sizes(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Arg(1)->Arg(16)->Arg(256)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(working, full / own_thread, full_own)->Apply(sizes);
BENCHMARK_CAPTURE(working, full / callers_executor, full_callers)->Apply(sizes);
BENCHMARK_CAPTURE(working, normal / own_thread, normal_own)->Apply(sizes);
BENCHMARK_CAPTURE(working, normal / callers_executor, normal_callers)->Apply(sizes);

} // namespace
