// What a claim and its acknowledgement take with many jobs around that are paused, that wait for a
// place in a full key of the same queue, or that are unique, against 1,000 of them: one file of
// each size, measured in turns in one run. The jobs that are measured have a key of their own.
//
// Then what they take in a queue that uses none of that, in a file where others use all of it,
// against a file where nobody does.
//
// One coroutine, on its own executor, durability normal. p50_us_base and p50_us are the medians of
// claim and acknowledgement in microseconds, with 1,000 jobs or with nothing used, and otherwise;
// ratio is the second to the first, and enqueue_ratio the same of the enqueue before.

#include "support/keyed_queue.hpp"
#include "support/quantile.hpp"

#include <benchmark/benchmark.h>

#include <exception>
#include <vector>

namespace {

using namespace benchmarks;

constexpr int few = 1'000;
constexpr int jobs = 2'000;
constexpr int jobs_before = 200;

/// What was measured in one file.
struct series {
    std::vector<double> enqueue;
    std::vector<double> claim_and_ack;

    double add(const keyed_queue::times& microseconds)
    {
        enqueue.push_back(microseconds.enqueue);
        claim_and_ack.push_back(microseconds.claim_and_ack);
        return microseconds.claim_and_ack;
    }
};

double ratio_of(const std::vector<double>& these, const std::vector<double>& those)
{
    return quantile(these, 0.5) / quantile(those, 0.5);
}

void report(benchmark::State& state, const series& base, const series& other)
{
    state.counters["p50_us_base"] = quantile(base.claim_and_ack, 0.5);
    state.counters["p50_us"] = quantile(other.claim_and_ack, 0.5);
    state.counters["ratio"] = ratio_of(other.claim_and_ack, base.claim_and_ack);
    state.counters["enqueue_ratio"] = ratio_of(other.enqueue, base.enqueue);
}

void measure(benchmark::State& state, keyed_queue& base, keyed_queue& other)
{
    for (int each = 0; each < jobs_before; ++each) {
        base.run_a_job();
        other.run_a_job();
    }
    series of_base;
    series of_other;
    for (auto _ : state) {
        of_base.add(base.run_a_job());
        state.SetIterationTime(of_other.add(other.run_a_job()) / 1e6);
    }
    report(state, of_base, of_other);
}

void among(benchmark::State& state, keyed_crowd (*crowd)())
{
    try {
        keyed_queue small(crowd(), few);
        keyed_queue large(crowd(), static_cast<int>(state.range(0)));
        measure(state, small, large);
    } catch (const std::exception& failure) {
        state.SkipWithError(failure.what());
    }
}

void beside_others(benchmark::State& state)
{
    try {
        keyed_queue unused(nobody_uses_anything(), 0);
        keyed_queue used(another_queue_uses_all(), few);
        measure(state, unused, used);
    } catch (const std::exception& failure) {
        state.SkipWithError(failure.what());
    }
}

void timed(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Iterations(jobs)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

/// Not a round million: there the last page of an index is full by chance, and every job that is
/// measured would split it and join it again.
void sized(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Arg(100'000)->Arg(1'000'010)->Apply(timed);
}

BENCHMARK_CAPTURE(among, paused, paused_jobs)->Apply(sized);
BENCHMARK_CAPTURE(among, blocked, blocked_jobs)->Apply(sized);
BENCHMARK_CAPTURE(among, unique, unique_jobs)->Apply(sized);
BENCHMARK(beside_others)->Apply(timed);

} // namespace
