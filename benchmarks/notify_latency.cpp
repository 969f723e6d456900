// How long after a notification its listeners resume.
//
// another_process: from the moment at which COMMIT has returned in another process, a plain SQLite
// program that notes it in shared memory, to the moment at which the coroutine that waits in `next`
// runs again. their_commit_p50_ms, the other process's whole transaction, tells what a commit costs
// on this disk.
//
// in_process: from the call of `notify` to the resumed listener of another coroutine.
//
// a_thousand_listeners: from the call of `notify` until the last of 1,000 listeners on its channel
// has resumed (wake_p50_ms, wake_p99_ms), all of them in one other thread, and how many that makes
// in a second. Durability normal, so that the disk does not hide it.
//
// The database has a thread of its own; the coroutines run in another. Between two commits are
// random pauses of 1 to 20 ms, so that they do not ride on the phase of the watcher's timer.

#include "support/child.hpp"
#include "support/rethrow.hpp"
#include "support/wakes.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace {

using namespace benchmarks;

const std::string payload = '"' + std::string(98, 'x') + '"';
constexpr const char* channel = "c";
constexpr std::size_t many_listeners = 1'000;

/// The other process.
void notify_when_wanted(const std::string& path, const wake_setting& with, exchange& shared)
{
    shared.wanted.await();
    SQLite::Database file(path, SQLite::OPEN_READWRITE);
    file.exec(with.level == skein::durability::full ? "PRAGMA synchronous = FULL"
                                                    : "PRAGMA synchronous = NORMAL");
    SQLite::Statement insert(file, "INSERT INTO _honker_notifications (channel, payload)"
                                   " VALUES ('c', ?1)");
    insert.bindNoCopy(1, payload);
    commit_when_wanted(shared, [&] {
        insert.exec();
        insert.reset();
    });
}

asio::awaitable<void> listen_to_other(skein::database database, exchange& shared)
{
    skein::listener inbox = co_await database.listen(channel);
    std::vector<double> woken;
    for (int number = 1; number <= wakes; ++number) {
        shared.wanted.send();
        const std::optional<skein::notification> note = co_await inbox.next_within(lost);
        const steady::time_point resumed = steady::now();
        if (!note) {
            throw std::runtime_error("the other process does not notify");
        }
        woken.push_back(milliseconds_between(time_of_commit(shared, number), resumed));
    }
    shared.wanted.send();
    note_wakes(shared, woken);
}

asio::awaitable<void> notify_after(std::chrono::microseconds pause, skein::database database,
                                   steady::time_point& notified)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, pause);
    co_await timer.async_wait(asio::use_awaitable);
    notified = steady::now();
    co_await database.notify(channel, payload);
}

asio::awaitable<void> listen_to_ourselves(skein::database database, exchange& results)
{
    skein::listener inbox = co_await database.listen(channel);
    const auto executor = co_await asio::this_coro::executor;
    std::vector<double> samples;
    random_pause pause;
    steady::time_point notified;
    for (int each = 0; each < wakes; ++each) {
        asio::co_spawn(executor, notify_after(pause(), database, notified), rethrow);
        const skein::notification note = co_await inbox.next();
        samples.push_back(milliseconds_between(notified, steady::now()));
        benchmark::DoNotOptimize(note.id);
    }
    note_wakes(results, samples);
}

/// How far many listeners have come with the notification of the moment.
struct audience {
    std::size_t have_heard = 0;
    steady::time_point all_have_heard;
};

asio::awaitable<void> hear_all(skein::listener inbox, audience& all)
{
    for (int each = 0; each < wakes; ++each) {
        const skein::notification note = co_await inbox.next();
        benchmark::DoNotOptimize(note.id);
        if (++all.have_heard == many_listeners) {
            all.all_have_heard = steady::now();
        }
    }
}

asio::awaitable<void> notify_many(skein::database database, exchange& results)
{
    const auto executor = co_await asio::this_coro::executor;
    audience all;
    for (std::size_t each = 0; each < many_listeners; ++each) {
        skein::listener inbox = co_await database.listen(channel);
        asio::co_spawn(executor, hear_all(std::move(inbox), all), rethrow);
    }
    asio::steady_timer timer(executor);
    std::vector<double> samples;
    for (int each = 0; each < wakes; ++each) {
        all.have_heard = 0;
        timer.expires_after(std::chrono::milliseconds{1});
        co_await timer.async_wait(asio::use_awaitable);
        const steady::time_point notified = steady::now();
        co_await database.notify(channel, payload);
        while (all.have_heard < many_listeners) {
            co_await asio::post(executor, asio::use_awaitable);
        }
        samples.push_back(milliseconds_between(notified, all.all_have_heard));
    }
    note_wakes(results, samples);
}

/// Runs one of the coroutines that listen on a database of its own.
template <class Listen>
void listen(const std::string& path, const wake_setting& with, exchange& shared, Listen listening)
{
    asio::io_context io;
    const skein::database database = open(path, with);
    asio::co_spawn(io, listening(database, shared), rethrow);
    io.run();
}

void another_process(benchmark::State& state, wake_setting with)
{
    run_wakes(state, [&](const std::string& path, exchange& shared) {
        child notifier([&] { notify_when_wanted(path, with, shared); });
        child listener([&] { listen(path, with, shared, listen_to_other); });
        listener.wait();
        notifier.wait();
    });
}

void in_process(benchmark::State& state, wake_setting with)
{
    run_wakes(state, [&](const std::string& path, exchange& results) {
        run_in_child([&] { listen(path, with, results, listen_to_ourselves); });
    });
}

void a_thousand_listeners(benchmark::State& state)
{
    run_wakes(state, [&](const std::string& path, exchange& results) {
        run_in_child([&] { listen(path, normal_timer, results, notify_many); });
        state.counters["heard_per_second"] = many_listeners / (results.wake_p50 / 1e3);
    });
}

BENCHMARK_CAPTURE(another_process, full_timer, full_timer)->Apply(wake_settings);
BENCHMARK_CAPTURE(another_process, full_hybrid, full_hybrid)->Apply(wake_settings);
BENCHMARK_CAPTURE(another_process, normal_timer, normal_timer)->Apply(wake_settings);
BENCHMARK_CAPTURE(another_process, normal_hybrid, normal_hybrid)->Apply(wake_settings);
BENCHMARK_CAPTURE(in_process, full, full_timer)->Apply(wake_settings);
BENCHMARK_CAPTURE(in_process, normal, normal_timer)->Apply(wake_settings);
BENCHMARK(a_thousand_listeners)->Apply(wake_settings);

} // namespace
