#pragma once

#include "quantile.hpp"
#include "scratch_file.hpp"
#include "shared.hpp"

#include <skein/skein.hpp>

#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

// What the benchmarks share that measure how long after a commit a coroutine resumes.
namespace benchmarks {

// CLOCK_MONOTONIC, which all processes share.
using steady = std::chrono::steady_clock;

inline constexpr int wakes = 500;
inline constexpr std::chrono::seconds lost{30};

struct wake_setting {
    skein::durability level;
    skein::watch watch;
};

inline constexpr wake_setting full_timer{skein::durability::full, skein::watch::timer};
inline constexpr wake_setting full_hybrid{skein::durability::full, skein::watch::hybrid};
inline constexpr wake_setting normal_timer{skein::durability::normal, skein::watch::timer};
inline constexpr wake_setting normal_hybrid{skein::durability::normal, skein::watch::hybrid};

[[nodiscard]] inline skein::database open(const std::string& path, const wake_setting& with)
{
    skein::database_options options;
    options.durability = with.level;
    options.watch = with.watch;
    return skein::database(path, options);
}

/// What the processes tell each other.
struct exchange {
    signals wanted;
    std::atomic<int> commits{0};
    std::atomic<steady::time_point> committed_at{};

    // The results, in milliseconds.
    double wake_p50 = 0;
    double wake_p99 = 0;
    double noticed_p50 = 0;
    double noticed_p99 = 0;
    double commit_p50 = 0;
};

class random_pause {
public:
    std::chrono::microseconds operator()() { return std::chrono::microseconds(between_(random_)); }

private:
    std::minstd_rand random_{std::random_device{}()};
    std::uniform_int_distribution<int> between_{1'000, 20'000};
};

[[nodiscard]] inline double milliseconds_between(steady::time_point start, steady::time_point end)
{
    return std::chrono::duration<double, std::milli>(end - start).count();
}

/// The first wakes are not counted: statements are prepared in them, pages are read.
[[nodiscard]] inline std::vector<double> counted(std::vector<double> samples)
{
    constexpr int wakes_before = 20;
    samples.erase(samples.begin(), samples.begin() + wakes_before);
    return samples;
}

inline void note_wakes(exchange& results, const std::vector<double>& samples)
{
    results.wake_p50 = quantile(counted(samples), 0.5);
    results.wake_p99 = quantile(counted(samples), 0.99);
}

/// The other process: commits something after a pause whenever it is asked to.
inline void commit_when_wanted(exchange& shared, const std::function<void()>& commit)
{
    random_pause pause;
    std::vector<double> took;
    for (int each = 0; each < wakes; ++each) {
        std::this_thread::sleep_for(pause());
        const steady::time_point start = steady::now();
        commit();
        shared.committed_at = steady::now();
        ++shared.commits;
        took.push_back(milliseconds_between(start, shared.committed_at));
        shared.wanted.await();
    }
    shared.commit_p50 = quantile(took, 0.5);
}

/// Who waits may resume before COMMIT has returned over there.
[[nodiscard]] inline steady::time_point time_of_commit(const exchange& shared, int number)
{
    while (shared.commits < number) {
        std::this_thread::yield();
    }
    return shared.committed_at;
}

inline void report(benchmark::State& state, const exchange& results)
{
    state.SetIterationTime(results.wake_p50 / 1e3);
    state.counters["wake_p50_ms"] = results.wake_p50;
    state.counters["wake_p99_ms"] = results.wake_p99;
    if (results.commit_p50 != 0) {
        state.counters["their_commit_p50_ms"] = results.commit_p50;
    }
    if (results.noticed_p50 != 0) {
        state.counters["noticed_p50_ms"] = results.noticed_p50;
        state.counters["noticed_p99_ms"] = results.noticed_p99;
    }
}

/// Measures on a file of its own. `measure(path, exchange)` starts processes that do it.
template <class Measure>
void run_wakes(benchmark::State& state, Measure measure)
{
    for (auto _ : state) {
        try {
            const shared<exchange> results;
            const scratch_file file;
            measure(file.path(), *results);
            report(state, *results);
        } catch (const std::exception& failure) {
            state.SkipWithError(failure.what());
        }
    }
}

inline void wake_settings(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

} // namespace benchmarks
