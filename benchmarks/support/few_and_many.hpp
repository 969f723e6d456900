#pragma once

#include "quantile.hpp"

#include <benchmark/benchmark.h>

#include <exception>
#include <vector>

namespace benchmarks {

inline constexpr int few = 1'000;
inline constexpr int many = 1'000'000;
inline constexpr int pairs = 2'000;
inline constexpr int pairs_before = 200;

/// Measures claims and acknowledgements in a file with few and in one with many of the crowd, in
/// turns.
template <class File>
void measure(benchmark::State& state, File& small, File& large)
{
    std::vector<double> with_few;
    std::vector<double> with_many;
    state.counters["first_ms_1M"] = large.claim_and_ack() / 1e3;
    for (int each = 0; each < pairs_before; ++each) {
        small.claim_and_ack();
        large.claim_and_ack();
    }
    for (auto _ : state) {
        with_few.push_back(small.claim_and_ack());
        with_many.push_back(large.claim_and_ack());
        state.SetIterationTime(with_many.back() / 1e6);
    }
    const double median_with_few = quantile(with_few, 0.5);
    const double median_with_many = quantile(with_many, 0.5);
    state.counters["p50_us_1k"] = median_with_few;
    state.counters["p50_us_1M"] = median_with_many;
    state.counters["ratio"] = median_with_many / median_with_few;
}

template <class File, class Crowd>
void compare_sizes(benchmark::State& state, const Crowd& what)
{
    try {
        File small(what, few);
        File large(what, many);
        measure(state, small, large);
    } catch (const std::exception& failure) {
        state.SkipWithError(failure.what());
    }
}

inline void sized(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Iterations(pairs)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

} // namespace benchmarks
