// What it takes to find the next moment of a cron expression, in nanoseconds each: from 1,000
// moments of 2026 in turn, the same in every run. The zone of the process is UTC; expressions with
// CRON_TZ have their own.
//
// next: common expressions; sparse ones, which pass over years; and a date that never comes, for
// which a hundred years are searched.
//
// against_every_minute: the same search beside a loop that asks of every minute whether the clocks
// show the time. items_per_second is skein's; raw_per_second the loop's; of_raw the ratio of the
// two.
//
// find_zone: the zone of an expression by its name.

#include "store/cron/cron_occurrence.hpp"
#include "store/cron/cron_expression.hpp"
#include "store/cron/time_zone.hpp"
#include "support/side_by_side.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;

void use_utc()
{
    setenv("TZ", "UTC", 1);
    tzset();
}

std::vector<std::int64_t> moments_of_2026()
{
    std::mt19937 chance(2026);
    std::uniform_int_distribution<std::int64_t> any(1767225600, 1798761599);
    std::vector<std::int64_t> moments(1000);
    for (std::int64_t& each : moments) {
        each = any(chance);
    }
    return moments;
}

void next(benchmark::State& state, const std::string& text)
{
    use_utc();
    const cron_expression expression = parse_cron(text, cron_grammar::extended);
    const time_zone zone = find_time_zone(expression.zone);
    const std::vector<std::int64_t> moments = moments_of_2026();
    std::size_t turn = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(next_occurrence(expression, zone, moments[turn]));
        turn = (turn + 1) % moments.size();
    }
}

/// The first full minute behind `after` at which the clocks show 03:00.
std::int64_t next_three_o_clock(std::int64_t after)
{
    std::time_t minute = after - after % 60;
    std::tm shown{};
    do {
        minute += 60;
        localtime_r(&minute, &shown);
    } while (shown.tm_hour != 3 || shown.tm_min != 0);
    return minute;
}

void against_every_minute(benchmark::State& state)
{
    use_utc();
    const cron_expression expression = parse_cron("0 3 * * *", cron_grammar::extended);
    const time_zone zone = find_time_zone(expression.zone);
    const std::vector<std::int64_t> moments = moments_of_2026();
    const auto search = [&] {
        for (const std::int64_t each : moments) {
            benchmark::DoNotOptimize(next_occurrence(expression, zone, each));
        }
    };
    const auto search_every_minute = [&] {
        for (const std::int64_t each : moments) {
            benchmark::DoNotOptimize(next_three_o_clock(each));
        }
    };
    benchmarks::compare(state, moments.size(), search, search_every_minute, [] {});
}

void find_zone(benchmark::State& state, const std::string& name)
{
    for (auto _ : state) {
        benchmark::DoNotOptimize(find_time_zone(name));
    }
}

BENCHMARK_CAPTURE(next, every_minute, "* * * * *");
BENCHMARK_CAPTURE(next, every_5_minutes, "*/5 * * * *");
BENCHMARK_CAPTURE(next, daily, "0 3 * * *");
BENCHMARK_CAPTURE(next, on_working_days, "0 9 * * 1-5");
BENCHMARK_CAPTURE(next, every_30_seconds, "@every 30s");
BENCHMARK_CAPTURE(next, every_minute / Berlin, "CRON_TZ=Europe/Berlin * * * * *");
BENCHMARK_CAPTURE(next, daily / Berlin, "CRON_TZ=Europe/Berlin 0 3 * * *");
BENCHMARK_CAPTURE(next, on_working_days / Berlin, "CRON_TZ=Europe/Berlin 0 9 * * 1-5");
BENCHMARK_CAPTURE(next, leap_day, "0 0 29 2 *");
BENCHMARK_CAPTURE(next, leap_day / Berlin, "CRON_TZ=Europe/Berlin 0 0 29 2 *");
BENCHMARK_CAPTURE(next, leap_day_and_monday, "0 0 29 2 1");
BENCHMARK_CAPTURE(next, leap_day_or_monday / Berlin, "CRON_TZ=Europe/Berlin 0 0 29 2 1");
BENCHMARK_CAPTURE(next, never, "0 0 30 2 *");
BENCHMARK_CAPTURE(next, never / Berlin, "CRON_TZ=Europe/Berlin 0 0 30 2 *");
BENCHMARK(against_every_minute)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(find_zone, Berlin, "Europe/Berlin");

} // namespace
