#include "crowded_queue.hpp"

#include "fill_file.hpp"
#include "rethrow.hpp"
#include "settings.hpp"

#include <asio/co_spawn.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace benchmarks {

namespace {

asio::awaitable<void> look_for_a_job(skein::queue queue)
{
    const std::optional<skein::job> none = co_await queue.try_claim();
    static_cast<void>(none);
}

/// Creates a file with an empty queue in it, for those who write it without skein.
void create_queue(const std::string& path)
{
    asio::io_context io;
    const skein::database database(io.get_executor(), path);
    asio::co_spawn(io, look_for_a_job(database.queue("q")), rethrow);
    io.run();
}

void insert(SQLite::Database& file, const job_crowd& what, int count)
{
    const auto column = [](std::string_view value) { return ", " + std::string(value); };
    file.exec("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
              std::to_string(count) +
              ") INSERT INTO _honker_live (payload, worker_id, queue, state, run_at,"
              " claim_expires_at, attempts, expires_at) SELECT '0', 'worker'" +
              column(what.queue) + column(what.state) + column(what.run_at) +
              column(what.claim_expires_at) + column(what.attempts) + column(what.expires_at) +
              " FROM n");
}

} // namespace

crowded_queue::crowded_queue(const job_crowd& what, int count) : what_(what)
{
    create_queue(file_.path());
    fill_file(file_.path(), [&](SQLite::Database& file) { insert(file, what, count); });
    database_.emplace(open(normal_callers, io_, file_.path()));
    queue_.emplace(database_->queue("q"));
}

double crowded_queue::claim_and_ack()
{
    double microseconds = 0;
    asio::co_spawn(io_, step(microseconds), rethrow);
    io_.restart();
    io_.run();
    return microseconds;
}

asio::awaitable<void> crowded_queue::step(double& microseconds)
{
    using clock = std::chrono::steady_clock;
    const std::int64_t own = co_await queue_->enqueue("1");

    const clock::time_point start = clock::now();
    skein::job job = co_await queue_->claim();
    const bool is_ours = co_await job.ack();
    const std::chrono::duration<double, std::micro> took = clock::now() - start;

    if (!is_ours || (!what_.is_claimed && job.id() != own)) {
        throw std::logic_error("the claim took what it should have passed over");
    }
    microseconds = took.count();
}

} // namespace benchmarks
