// What a claim and its acknowledgement take with 1,000,000 jobs of one kind in the queue, against
// 1,000: one file of each size, measured in turns in one run.
//
// One coroutine, on its own executor, durability normal. Before each claim a job of our own is
// enqueued, which is not measured.
//
// p50_us_1k and p50_us_1M are the medians in microseconds; ratio is the second to the first.
// first_ms_1M is the very first claim and acknowledgement in the large file, in milliseconds: where
// jobs have expired, or have lapsed in their last attempt, it puts them aside before it finds its
// own behind them, 1,000 in each transaction. The claims after it are measured.

#include "support/crowded_queue.hpp"
#include "support/few_and_many.hpp"

#include <benchmark/benchmark.h>

namespace {

using benchmarks::crowded_queue;
using benchmarks::job_crowd;

// Far in the future, and not all in one second.
constexpr std::string_view later = "unixepoch() + 1000000 + i";

constexpr job_crowd ready{.is_claimed = true};
constexpr job_crowd ready_elsewhere{.queue = "'another'"};
constexpr job_crowd delayed{.state = "'scheduled'", .run_at = later};
constexpr job_crowd in_flight{.state = "'processing'", .claim_expires_at = later, .attempts = "1"};
constexpr job_crowd in_flight_and_expired{
    .state = "'processing'", .claim_expires_at = later, .attempts = "1", .expires_at = "1000 + i"};
constexpr job_crowd in_the_last_attempt{
    .state = "'processing'", .claim_expires_at = later, .attempts = "3"};
constexpr job_crowd expired{.expires_at = "1000 + i"};
constexpr job_crowd expired_while_delayed{
    .state = "'scheduled'", .run_at = later, .expires_at = "1000 + i"};
constexpr job_crowd exhausted{
    .state = "'processing'", .claim_expires_at = "1000 + i", .attempts = "3"};

void claim_and_ack(benchmark::State& state, const job_crowd& what)
{
    benchmarks::compare_sizes<crowded_queue>(state, what);
}

BENCHMARK_CAPTURE(claim_and_ack, ready, ready)->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, ready_elsewhere, ready_elsewhere)->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, delayed, delayed)->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, in_flight, in_flight)->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, in_flight_and_expired, in_flight_and_expired)
    ->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, in_the_last_attempt, in_the_last_attempt)
    ->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, expired, expired)->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, expired_while_delayed, expired_while_delayed)
    ->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, exhausted, exhausted)->Apply(benchmarks::sized);

} // namespace
