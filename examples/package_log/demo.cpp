#include "demo.hpp"

#include "../rethrow.hpp"
#include "../temporary_directory.hpp"
#include "publisher.hpp"
#include "queue.hpp"
#include "worker_process.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <array>
#include <csignal>
#include <optional>

namespace package_log {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

/// When nothing at all is processed for so long, what is missing is lost.
constexpr auto patience = 30s;

class demo {
public:
    demo(const log_file& log, progress_bar& bar) : log_(log), bar_(bar) {}

    outcome run();

private:
    asio::awaitable<void> direct();
    asio::awaitable<void> start_workers();
    asio::awaitable<void> kill_a_worker();
    asio::awaitable<void> watch_until(std::size_t processed);
    asio::awaitable<void> look();
    asio::awaitable<void> count();
    asio::awaitable<void> pause();
    [[nodiscard]] bool is_over() const;

    const log_file& log_;
    progress_bar& bar_;
    outcome outcome_;

    // In this order: signals are expected before there is something to clean up; at the end the
    // workers go first, then the database closes, then its directory is removed.
    asio::io_context context_;
    asio::signal_set signals_{context_, SIGINT, SIGTERM, SIGHUP};
    temporary_directory directory_;
    skein::database db_{directory_.path() / "packages.db"};
    std::array<std::optional<worker_process>, ledger::workers.size()> workers_;

    steady::time_point last_progress_;
};

outcome demo::run()
{
    std::optional<int> signal;
    signals_.async_wait([&](asio::error_code failure, int number) {
        if (!failure) {
            signal = number;
            context_.stop();
        }
    });
    asio::co_spawn(context_, direct(), rethrow);
    context_.run();
    if (signal) {
        throw interrupted{*signal};
    }
    return outcome_;
}

asio::awaitable<void> demo::direct()
{
    const auto create = [](skein::transaction& tx) { ledger::create(tx.database()); };
    co_await db_.transaction(create);
    co_await start_workers();

    const auto begin = last_progress_ = steady::now();
    const std::size_t all = log_.entries.size();
    start_publishing(context_, db_.transport(queue_options), log_.entries, outcome_.published);
    co_await watch_until(all / 2);
    co_await kill_a_worker();
    co_await watch_until(all);
    outcome_.elapsed = steady::now() - begin;

    for (auto& worker : workers_) {
        worker->stop();
    }
    co_await count();
    signals_.cancel();
}

asio::awaitable<void> demo::start_workers()
{
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers_[i].emplace(db_.path(), ledger::workers[i]);
    }
    for (std::size_t present = 0; present < workers_.size();) {
        co_await pause();
        present = co_await db_.read(ledger::count_signed_in);
    }
}

/// The one that has the most in hand; again, should it have finished all of it just then.
asio::awaitable<void> demo::kill_a_worker()
{
    while (outcome_.in_hand == 0 && !is_over()) {
        co_await look();
        const ledger::shares before = co_await db_.read(ledger::in_hand);
        const std::size_t victim = before[1] > before[0] ? 1 : 0;
        if (before[victim] > 0) {
            workers_[victim]->kill();
            const ledger::shares left = co_await db_.read(ledger::in_hand);
            outcome_.killed = victim;
            outcome_.in_hand = left[victim];
            workers_[victim].emplace(db_.path(), ledger::workers[victim]);
            bar_.remark(ledger::workers[victim] + " killed and restarted");
        }
    }
}

asio::awaitable<void> demo::watch_until(std::size_t processed)
{
    while (outcome_.progress.total() < processed && !is_over()) {
        co_await look();
    }
}

/// After a while, so that the loops around it do not spin.
asio::awaitable<void> demo::look()
{
    co_await pause();
    const auto count_on = [this](const SQLite::Database& file) {
        return ledger::count_on(file, outcome_.progress);
    };
    const ledger::progress now = co_await db_.read(count_on);
    if (now.position != outcome_.progress.position) {
        outcome_.progress = now;
        last_progress_ = steady::now();
        bar_.show(now);
    }
}

bool demo::is_over() const
{
    return outcome_.progress.total() >= log_.entries.size() ||
           steady::now() - last_progress_ > patience;
}

asio::awaitable<void> demo::count()
{
    const auto count_all = [this](const SQLite::Database& file) {
        outcome_.totals = ledger::count(file);
        outcome_.states = ledger::states(file);
    };
    co_await db_.read(count_all);
}

/// A worker that ends meanwhile has failed.
asio::awaitable<void> demo::pause()
{
    asio::steady_timer timer(context_, 10ms);
    co_await timer.async_wait(asio::use_awaitable);
    for (auto& worker : workers_) {
        worker->check();
    }
}

} // namespace

outcome run_demo(const log_file& log, progress_bar& bar)
{
    return demo(log, bar).run();
}

} // namespace package_log
