// Publish, and claim + ack, by 1, 64 and 512 coroutines at once, beside a plain SQLite loop that
// runs the same statements with as many messages in each transaction, in the same run on the same
// disk.
//
// items_per_second is skein's; raw_per_second the plain loop's; of_raw the ratio of the two.

#include "support/raw_transport.hpp"
#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"
#include "support/settings.hpp"
#include "support/side_by_side.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <string>

namespace {

using namespace benchmarks;

const std::string payload(100, 'x');

asio::awaitable<void> publish(skein::transport transport, std::string group)
{
    co_await transport.publish(group, payload);
}

asio::awaitable<void> claim_and_ack(skein::transport transport)
{
    skein::message message = co_await transport.claim();
    benchmark::DoNotOptimize(message.payload().data());
    const bool is_ours = co_await message.ack();
    benchmark::DoNotOptimize(is_ours);
}

/// Lets as many coroutines publish one message each, to groups of their own.
void publish_all(asio::io_context& io, const skein::transport& transport, std::size_t coroutines)
{
    for (std::size_t each = 0; each < coroutines; ++each) {
        asio::co_spawn(io, publish(transport, "group-" + std::to_string(each)), rethrow);
    }
    io.restart();
    io.run();
}

void claim_all(asio::io_context& io, const skein::transport& transport, std::size_t coroutines)
{
    for (std::size_t each = 0; each < coroutines; ++each) {
        asio::co_spawn(io, claim_and_ack(transport), rethrow);
    }
    io.restart();
    io.run();
}

void publishing(benchmark::State& state, setting with)
{
    const auto coroutines = static_cast<std::size_t>(state.range(0));
    asio::io_context io;
    const scratch_file file;
    const skein::database database = open(with, io, file.path());
    const skein::transport transport = database.transport();
    publish_all(io, transport, coroutines);
    raw_transport raw(file.path(), with.level);
    compare(
        state, coroutines, [&] { publish_all(io, transport, coroutines); },
        [&] { raw.publish(coroutines, payload); }, [] {});
}

void claiming(benchmark::State& state, setting with)
{
    const auto coroutines = static_cast<std::size_t>(state.range(0));
    asio::io_context io;
    const scratch_file file;
    const skein::database database = open(with, io, file.path());
    const skein::transport transport = database.transport();
    publish_all(io, transport, coroutines);
    raw_transport raw(file.path(), with.level);
    for (int each = 0; each < 200; ++each) {
        raw.publish(coroutines, payload);
    }
    const auto refill = [&] {
        raw.publish(coroutines, payload);
        raw.publish(coroutines, payload);
    };
    compare(
        state, coroutines, [&] { claim_all(io, transport, coroutines); },
        [&] { raw.claim_and_ack(coroutines); }, refill);
}

void sizes(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Arg(1)->Arg(64)->Arg(512)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(publishing, full / own_thread, full_own)->Apply(sizes);
BENCHMARK_CAPTURE(publishing, full / callers_executor, full_callers)->Apply(sizes);
BENCHMARK_CAPTURE(publishing, normal / own_thread, normal_own)->Apply(sizes);
BENCHMARK_CAPTURE(publishing, normal / callers_executor, normal_callers)->Apply(sizes);
BENCHMARK_CAPTURE(claiming, full / own_thread, full_own)->Apply(sizes);
BENCHMARK_CAPTURE(claiming, full / callers_executor, full_callers)->Apply(sizes);
BENCHMARK_CAPTURE(claiming, normal / own_thread, normal_own)->Apply(sizes);
BENCHMARK_CAPTURE(claiming, normal / callers_executor, normal_callers)->Apply(sizes);

} // namespace
