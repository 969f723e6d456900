// Publishing to a stream by 1, 64 and 512 coroutines at once, and reading 1, 64 and 512 events at a
// time, beside a plain SQLite loop that runs the same statements in the same run on the same disk.
//
// publishing: one event by each coroutine; the plain loop puts as many into one transaction.
// reading: one consumer takes so many events with each call, and saves nothing; the plain loop
// runs one SELECT for as many. saving: the same with automatic saving, so that each call commits
// the offset of the one before; the plain loop only reads.
//
// items_per_second is skein's; raw_per_second the plain loop's; of_raw the ratio of the two.

#include "support/raw_stream.hpp"
#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"
#include "support/settings.hpp"
#include "support/side_by_side.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benchmarks;

const std::string payload = '"' + std::string(98, 'x') + '"';
// As many as one iteration reads.
constexpr std::size_t events_read = 4'096;

asio::awaitable<void> publish(skein::stream stream)
{
    const std::int64_t offset = co_await stream.publish("k", payload);
    benchmark::DoNotOptimize(offset);
}

void run_all(asio::io_context& io, std::size_t coroutines, const skein::stream& stream)
{
    for (std::size_t each = 0; each < coroutines; ++each) {
        asio::co_spawn(io, publish(stream), rethrow);
    }
    io.restart();
    io.run();
}

void run(asio::io_context& io, asio::awaitable<void> work)
{
    asio::co_spawn(io, std::move(work), rethrow);
    io.restart();
    io.run();
}

asio::awaitable<void> make_consumer(skein::stream stream, skein::consumer_saving saving,
                                    std::optional<skein::consumer>& made)
{
    made = co_await stream.consumer("c", {.saving = saving});
}

asio::awaitable<void> read(skein::consumer& consumer, std::size_t at_once)
{
    for (std::size_t count = 0; count < events_read;) {
        const std::vector<skein::stream_event> events = co_await consumer.next_many(at_once);
        benchmark::DoNotOptimize(events.data());
        count += events.size();
    }
}

void publishing(benchmark::State& state, setting with)
{
    const auto coroutines = static_cast<std::size_t>(state.range(0));
    asio::io_context io;
    const scratch_file file;
    const skein::database database = open(with, io, file.path());
    const skein::stream stream = database.stream("t");
    run_all(io, coroutines, stream);
    raw_stream raw(file.path(), with.level);
    compare(
        state, coroutines, [&] { run_all(io, coroutines, stream); },
        [&] { raw.publish(coroutines, payload); }, [] {});
}

void reading_with(benchmark::State& state, setting with, skein::consumer_saving saving)
{
    const auto at_once = static_cast<std::size_t>(state.range(0));
    asio::io_context io;
    const scratch_file file;
    const skein::database database = open(with, io, file.path());
    const skein::stream stream = database.stream("t");
    run_all(io, 1, stream);
    raw_stream raw(file.path(), with.level);
    raw.publish(2 * events_read, payload);
    std::optional<skein::consumer> consumer;
    run(io, make_consumer(stream, saving, consumer));
    const auto read_raw = [&] {
        for (std::size_t count = 0; count < events_read;) {
            count += raw.read(at_once);
        }
    };
    compare(
        state, events_read, [&] { run(io, read(*consumer, at_once)); }, read_raw,
        [&] { raw.publish(events_read + at_once, payload); });
}

void reading(benchmark::State& state, setting with)
{
    reading_with(state, with, skein::consumer_saving::explicitly);
}

void saving(benchmark::State& state, setting with)
{
    reading_with(state, with, skein::consumer_saving::automatically);
}

void sizes(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Arg(1)->Arg(64)->Arg(512)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(publishing, full / own_thread, full_own)->Apply(sizes);
BENCHMARK_CAPTURE(publishing, full / callers_executor, full_callers)->Apply(sizes);
BENCHMARK_CAPTURE(publishing, normal / own_thread, normal_own)->Apply(sizes);
BENCHMARK_CAPTURE(publishing, normal / callers_executor, normal_callers)->Apply(sizes);
BENCHMARK_CAPTURE(reading, full / own_thread, full_own)->Apply(sizes);
BENCHMARK_CAPTURE(reading, full / callers_executor, full_callers)->Apply(sizes);
BENCHMARK_CAPTURE(saving, full / own_thread, full_own)->Apply(sizes);

} // namespace
