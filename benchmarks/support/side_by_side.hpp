#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace benchmarks {

inline void report(benchmark::State& state, std::size_t coroutines, double raw_seconds)
{
    const auto items = static_cast<double>(state.iterations()) * static_cast<double>(coroutines);
    state.SetItemsProcessed(static_cast<std::int64_t>(items));
    state.counters["raw_per_second"] = items / raw_seconds;
    state.counters["of_raw"] = benchmark::Counter(raw_seconds, benchmark::Counter::kIsRate);
}

/// Runs the work in turns with the raw loop's, so that both meet the same disk. `afterwards` is not
/// counted.
template <class Work, class Raw, class Afterwards>
void compare(benchmark::State& state, std::size_t coroutines, Work work, Raw raw,
             Afterwards afterwards)
{
    using clock = std::chrono::steady_clock;
    clock::duration raw_time{};
    for (auto _ : state) {
        const clock::time_point start = clock::now();
        work();
        const clock::time_point middle = clock::now();
        raw();
        raw_time += clock::now() - middle;
        state.SetIterationTime(std::chrono::duration<double>(middle - start).count());
        afterwards();
    }
    report(state, coroutines, std::chrono::duration<double>(raw_time).count());
}

} // namespace benchmarks
