// Whether processes that share a file get their turns: SQLite's lock is not fair.
//
// drain: four skein processes with eight coroutines each claim and acknowledge a fixed number of
// messages, each in a group of its own. busiest_to_least_busy is the ratio of the messages that
// they acknowledged, the mean of the runs; worst the largest of them.
//
// beside_plain_writers: for 3 s one skein process publishes, with one coroutine or with 64, beside
// three plain SQLite programs with a busy timeout of 5 s that write one row after the other. An
// equal share of the commits is 25 percent for each of the four. With no coroutine there is no
// skein process: that is how the plain programs share a file among themselves. A commit of skein's
// holds all that its coroutines publish at one time, so published_per_second is told too. errors
// counts what was refused on either side.

#include "support/child.hpp"
#include "support/create_tables.hpp"
#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"
#include "support/shared.hpp"
#include "support/statement_trace.hpp"

#include <skein/skein.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace {

using benchmarks::child;
using benchmarks::rethrow;
using benchmarks::scratch_file;
using benchmarks::shared;
using clock = std::chrono::steady_clock;

constexpr std::size_t drainers = 4;
constexpr int coroutines_of_each = 8;
constexpr int drains = 3;
constexpr std::chrono::milliseconds longest_wait{100};

constexpr std::size_t plain_writers = 3;
constexpr std::chrono::seconds writing_time{3};
constexpr int busy_timeout_ms = 5'000;
const std::string payload(100, 'x');

/// Lets all processes begin at one moment, once each has opened the file.
class start_line {
public:
    void wait_for_start()
    {
        arrived_.send();
        go_.await();
    }

    void start(int processes)
    {
        arrived_.await(processes);
        go_.send(processes);
    }

private:
    benchmarks::signals arrived_;
    benchmarks::signals go_;
};

skein::database open(const std::string& path, skein::durability level)
{
    skein::database_options options;
    options.durability = level;
    return skein::database(path, options);
}

struct drain_counts {
    start_line line;
    std::atomic<int> left{0};
    std::array<std::atomic<int>, drainers> acked{};
};

void fill(const std::string& path, int messages)
{
    benchmarks::create_tables(path);
    SQLite::Database file(path, SQLite::OPEN_READWRITE);
    const std::string numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                " LIMIT " +
                                std::to_string(messages) + ") ";
    file.exec(numbers + "INSERT INTO harel_transport_groups (group_id) SELECT 'g' || i FROM n");
    file.exec(numbers + "INSERT INTO harel_transport_messages (group_id, event)"
                        " SELECT 'g' || i, 'm' FROM n");
}

asio::awaitable<void> drain_some(skein::transport transport, std::atomic<int>& left,
                                 std::atomic<int>& acked)
{
    while (left > 0) {
        std::optional<skein::message> message = co_await transport.claim_within(longest_wait);
        if (message) {
            const bool is_ours = co_await message->ack();
            acked += is_ours;
            left -= is_ours;
        }
    }
}

void drain_with_others(const std::string& path, skein::durability level, drain_counts& counts,
                       std::atomic<int>& acked)
{
    asio::io_context io;
    const skein::database database = open(path, level);
    counts.line.wait_for_start();
    for (int each = 0; each < coroutines_of_each; ++each) {
        asio::co_spawn(io, drain_some(database.transport(), counts.left, acked), rethrow);
    }
    io.run();
}

/// Returns the ratio of the busiest to the least busy process.
double drain_once(skein::durability level, int messages, double& seconds)
{
    const shared<drain_counts> counts;
    const scratch_file file;
    benchmarks::run_in_child([&] { fill(file.path(), messages); });
    counts->left = messages;
    std::vector<std::unique_ptr<child>> processes;
    for (std::atomic<int>& acked : counts->acked) {
        processes.push_back(std::make_unique<child>(
            [&] { drain_with_others(file.path(), level, *counts, acked); }));
    }
    counts->line.start(drainers);
    const clock::time_point start = clock::now();
    for (const auto& each : processes) {
        each->wait();
    }
    seconds = std::chrono::duration<double>(clock::now() - start).count();
    const auto [least, most] = std::minmax_element(counts->acked.begin(), counts->acked.end());
    return static_cast<double>(*most) / std::max(1.0, static_cast<double>(*least));
}

void drain(benchmark::State& state, skein::durability level, int messages)
{
    double sum = 0;
    double worst = 0;
    try {
        for (auto _ : state) {
            double seconds = 0;
            const double ratio = drain_once(level, messages, seconds);
            state.SetIterationTime(seconds);
            sum += ratio;
            worst = std::max(worst, ratio);
        }
    } catch (const std::exception& failure) {
        state.SkipWithError(failure.what());
    }
    state.SetItemsProcessed(state.iterations() * messages);
    state.counters["busiest_to_least_busy"] = sum / static_cast<double>(state.iterations());
    state.counters["worst"] = worst;
}

struct write_counts {
    start_line line;
    std::atomic<long> skein_commits{0};
    std::atomic<long> published{0};
    std::array<std::atomic<long>, plain_writers> plain_commits{};
    std::atomic<long> errors{0};
};

void create_table_for_others(const std::string& path)
{
    benchmarks::create_tables(path);
    SQLite::Database file(path, SQLite::OPEN_READWRITE);
    file.exec("CREATE TABLE others (id INTEGER PRIMARY KEY, content TEXT)");
}

void write_plainly(const std::string& path, skein::durability level, write_counts& counts,
                   std::atomic<long>& commits)
{
    SQLite::Database file(path, SQLite::OPEN_READWRITE, busy_timeout_ms);
    file.exec(level == skein::durability::full ? "PRAGMA synchronous = FULL"
                                               : "PRAGMA synchronous = NORMAL");
    SQLite::Statement begin(file, "BEGIN IMMEDIATE");
    SQLite::Statement insert(file, "INSERT INTO others (content) VALUES (?)");
    SQLite::Statement commit(file, "COMMIT");
    insert.bind(1, payload);
    counts.line.wait_for_start();
    const clock::time_point end = clock::now() + writing_time;
    while (clock::now() < end) {
        try {
            for (SQLite::Statement* each : {&begin, &insert, &commit}) {
                each->exec();
                each->reset();
            }
            ++commits;
        } catch (const SQLite::Exception&) {
            ++counts.errors;
            begin.tryReset();
        }
    }
}

asio::awaitable<void> publish_until(clock::time_point end, skein::transport transport,
                                    std::string group, write_counts& counts)
{
    while (clock::now() < end) {
        try {
            co_await transport.publish(group, payload);
            ++counts.published;
        } catch (const skein::error&) {
            ++counts.errors;
        }
    }
}

void publish_beside_others(const std::string& path, skein::durability level, int coroutines,
                           write_counts& counts)
{
    asio::io_context io;
    benchmarks::statement_trace trace;
    const skein::database database = open(path, level);
    asio::co_spawn(io, trace.start(database), rethrow);
    io.run();
    io.restart();
    counts.line.wait_for_start();
    const clock::time_point end = clock::now() + writing_time;
    for (int each = 0; each < coroutines; ++each) {
        asio::co_spawn(
            io, publish_until(end, database.transport(), "group-" + std::to_string(each), counts),
            rethrow);
    }
    io.run();
    counts.skein_commits = trace.commits();
}

void report(benchmark::State& state, const write_counts& counts)
{
    const auto [least, most] =
        std::minmax_element(counts.plain_commits.begin(), counts.plain_commits.end());
    auto all = static_cast<double>(counts.skein_commits);
    for (const std::atomic<long>& each : counts.plain_commits) {
        all += static_cast<double>(each);
    }
    const double length = std::chrono::duration<double>(writing_time).count();
    state.SetIterationTime(length);
    state.counters["skein_percent"] = 100 * static_cast<double>(counts.skein_commits) / all;
    state.counters["plain_least_percent"] = 100 * static_cast<double>(*least) / all;
    state.counters["plain_most_percent"] = 100 * static_cast<double>(*most) / all;
    state.counters["commits_per_second"] = all / length;
    state.counters["published_per_second"] = static_cast<double>(counts.published) / length;
    state.counters["errors"] = static_cast<double>(counts.errors);
}

void beside_plain_writers(benchmark::State& state, skein::durability level)
{
    const auto coroutines = static_cast<int>(state.range(0));
    for (auto _ : state) {
        try {
            const shared<write_counts> counts;
            const scratch_file file;
            benchmarks::run_in_child([&] { create_table_for_others(file.path()); });
            std::vector<std::unique_ptr<child>> processes;
            if (coroutines > 0) {
                processes.push_back(std::make_unique<child>(
                    [&] { publish_beside_others(file.path(), level, coroutines, *counts); }));
            }
            for (std::atomic<long>& commits : counts->plain_commits) {
                processes.push_back(std::make_unique<child>(
                    [&] { write_plainly(file.path(), level, *counts, commits); }));
            }
            counts->line.start(static_cast<int>(processes.size()));
            for (const auto& each : processes) {
                each->wait();
            }
            report(state, *counts);
        } catch (const std::exception& failure) {
            state.SkipWithError(failure.what());
        }
    }
}

void drain_settings(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Iterations(drains)->UseManualTime()->Unit(benchmark::kMillisecond);
}

void writing_settings(benchmark::internal::Benchmark* benchmark)
{
    benchmark->ArgName("coroutines")->Arg(0)->Arg(1)->Arg(64);
    benchmark->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(drain, full, skein::durability::full, 4'000)->Apply(drain_settings);
BENCHMARK_CAPTURE(drain, normal, skein::durability::normal, 20'000)->Apply(drain_settings);
BENCHMARK_CAPTURE(beside_plain_writers, full, skein::durability::full)->Apply(writing_settings);
BENCHMARK_CAPTURE(beside_plain_writers, normal, skein::durability::normal)->Apply(writing_settings);

} // namespace
