// What a scheduler takes to enqueue the jobs of 10 schedules that are due, among 10,000 in all,
// against 10 in all: one file of each size, measured in turns in one run.
//
// One scheduler, on its own executor, durability normal; the clock is put forward by hand. Measured
// is from there until the jobs are committed, and the scheduler sleeps again.
//
// p50_us_10 and p50_us_10k are the medians in microseconds; ratio is the second to the first.

#include "support/quantile.hpp"
#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"

#include <skein/skein.hpp>
#include <skein/testing/manual_clock.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int due = 10;
constexpr int ticks = 2'000;
constexpr int ticks_before = 100;

/// Makes the tables, and schedules of which ten are due each second and the others not for years.
void write_schedules(const std::string& path, int schedules)
{
    SQLite::Database file(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    file.exec("PRAGMA journal_mode = WAL; BEGIN");
    for (const auto& statements : {skein::schema::queue(), skein::schema::schedules()}) {
        for (const std::string& each : statements) {
            file.exec(each);
        }
    }
    const std::string is_due = "i <= " + std::to_string(due);
    file.exec("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
              std::to_string(schedules) +
              ") INSERT INTO _honker_scheduler_tasks"
              " (name, queue, cron_expr, payload, next_fire_at) SELECT 's' || i, 'q', iif(" +
              is_due + ", '@every1s', '0 0 1 1 *'), 'null', iif(" + is_due +
              ", 101, 4000000000 + i) FROM n; COMMIT");
}

/// A file with schedules, and a scheduler that sleeps until the clock is put forward.
class scheduled_file {
public:
    explicit scheduled_file(int schedules)
    {
        write_schedules(file_.path(), schedules);
        database_.emplace(
            io_.get_executor(), file_.path(),
            skein::database_options{.durability = skein::durability::normal, .clock = clock_});
        asio::co_spawn(io_, database_->scheduler().run(), benchmarks::rethrow);
        io_.poll();
    }

    /// Lets a second pass; returns the microseconds that it took.
    double tick()
    {
        const auto begin = std::chrono::steady_clock::now();
        clock_->advance(1s);
        io_.restart();
        io_.poll();
        const std::chrono::duration<double, std::micro> passed =
            std::chrono::steady_clock::now() - begin;
        return passed.count();
    }

    [[nodiscard]] int jobs() const
    {
        SQLite::Database file(file_.path());
        return file.execAndGet("SELECT count(*) FROM _honker_live").getInt();
    }

private:
    const benchmarks::scratch_file file_;
    asio::io_context io_;
    std::shared_ptr<skein::testing::manual_clock> clock_ =
        std::make_shared<skein::testing::manual_clock>();
    std::optional<skein::database> database_;
};

void tick_in_turns(benchmark::State& state, scheduled_file& small, scheduled_file& large)
{
    std::vector<double> with_few;
    std::vector<double> with_many;
    for (int each = 0; each < ticks_before; ++each) {
        small.tick();
        large.tick();
    }
    for (auto _ : state) {
        with_few.push_back(small.tick());
        with_many.push_back(large.tick());
        state.SetIterationTime(with_many.back() / 1e6);
    }
    const double median_with_few = benchmarks::quantile(with_few, 0.5);
    const double median_with_many = benchmarks::quantile(with_many, 0.5);
    state.counters["p50_us_10"] = median_with_few;
    state.counters["p50_us_10k"] = median_with_many;
    state.counters["ratio"] = median_with_many / median_with_few;
}

void ten_due(benchmark::State& state)
{
    try {
        scheduled_file small(due);
        scheduled_file large(10'000);
        tick_in_turns(state, small, large);
        constexpr int expected = due * (ticks + ticks_before);
        if (small.jobs() != expected || large.jobs() != expected) {
            state.SkipWithError("not every moment has its job");
        }
    } catch (const std::exception& failure) {
        state.SkipWithError(failure.what());
    }
}

BENCHMARK(ten_due)->Iterations(ticks)->UseManualTime()->Unit(benchmark::kMicrosecond);

} // namespace
