#include "keyed_queue.hpp"

#include "fill_file.hpp"
#include "rethrow.hpp"
#include "settings.hpp"

#include <asio/co_spawn.hpp>

#include <chrono>
#include <stdexcept>

namespace benchmarks {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::string_view add_paused =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {count})"
    " INSERT INTO _honker_live (queue, payload, run_at) SELECT 'paused', '0', i FROM n";

/// Of the queue and the key that are named so.
std::string add_blocked(const std::string& queue, const std::string& key)
{
    const std::string name = "'" + queue + "'";
    return "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {count})"
           " INSERT INTO _honker_live (queue, payload, state, run_at, worker_id) SELECT " +
           name +
           ", '0', 'scheduled', 253402300799, 'blocked' FROM n;"
           " INSERT INTO _skein_limited_jobs (id, queue, key, place, priority, run_at)"
           " SELECT id, queue, '" +
           key + "', 2, 0, id FROM _honker_live WHERE worker_id = 'blocked' AND queue = " + name;
}

std::string add_unique(const std::string& queue)
{
    const std::string name = "'" + queue + "'";
    return "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {count})"
           " INSERT INTO _honker_live (queue, payload, state, run_at, worker_id) SELECT " +
           name +
           ", '0', 'scheduled', unixepoch() + 1000000 + i, 'unique' FROM n;"
           " INSERT INTO _skein_unique_jobs (queue, key, id, while_running)"
           " SELECT queue, 'user ' || id, id, 1 FROM _honker_live WHERE worker_id = 'unique'"
           " AND queue = " +
           name;
}

const std::string blocked_here = add_blocked("q", "full");
const std::string unique_here = add_unique("q");
const std::string blocked_there = add_blocked("other", "full");
const std::string unique_there = add_unique("other");

asio::awaitable<void> use_a_queue(skein::queue queue)
{
    const skein::enqueue_options options{.unique = {.key = "first"}};
    co_await queue.enqueue("1", options);
    skein::job job = co_await queue.claim();
    co_await queue.request_stop(job.id());
    const bool is_ours = co_await job.ack();
    static_cast<void>(is_ours);
}

/// Its key is full from now on.
asio::awaitable<void> hold_a_key(skein::queue queue)
{
    const skein::enqueue_options options{.concurrency = {.key = "full"}};
    co_await queue.enqueue("1", options);
    const skein::job_claim_options claim{.visibility = 24h};
    skein::job job = co_await queue.claim(claim);
    static_cast<void>(job.detach());
}

asio::awaitable<void> use_everything(skein::database database)
{
    co_await use_a_queue(database.queue("q"));
    co_await hold_a_key(database.queue("q"));
    co_await hold_a_key(database.queue("other"));
    const bool has_changed = co_await database.queue("paused").pause();
    static_cast<void>(has_changed);
}

asio::awaitable<void> look_for_a_job(skein::queue queue)
{
    const std::optional<skein::job> none = co_await queue.try_claim();
    static_cast<void>(none);
}

/// Creates the tables, for those who write them without skein.
void create(const std::string& path, features what)
{
    asio::io_context io;
    const skein::database database(io.get_executor(), path);
    if (what == features::used) {
        asio::co_spawn(io, use_everything(database), rethrow);
    } else {
        asio::co_spawn(io, look_for_a_job(database.queue("q")), rethrow);
    }
    io.run();
}

void insert(SQLite::Database& file, std::string_view statements, int count)
{
    const std::string placeholder = "{count}";
    std::string filled(statements);
    filled.replace(filled.find(placeholder), placeholder.size(), std::to_string(count));
    file.exec(filled);
}

double microseconds_since(clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(clock::now() - start).count();
}

} // namespace

keyed_crowd nobody_uses_anything()
{
    return {.what = features::unused};
}

keyed_crowd paused_jobs()
{
    return {.statements = {add_paused}};
}

keyed_crowd blocked_jobs()
{
    return {.statements = {blocked_here}, .own = {.concurrency = {.key = "own"}}};
}

keyed_crowd unique_jobs()
{
    return {.statements = {unique_here}, .own = {.unique = {.key = "own"}}};
}

keyed_crowd another_queue_uses_all()
{
    return {.statements = {add_paused, blocked_there, unique_there}};
}

keyed_queue::keyed_queue(keyed_crowd what, int count) : what_(std::move(what))
{
    create(file_.path(), what_.what);
    fill_file(file_.path(), [&](SQLite::Database& file) {
        for (const std::string_view each : what_.statements) {
            insert(file, each, count);
        }
    });
    database_.emplace(open(normal_callers, io_, file_.path()));
    queue_.emplace(database_->queue("q"));
}

keyed_queue::times keyed_queue::run_a_job()
{
    times microseconds;
    asio::co_spawn(io_, step(microseconds), rethrow);
    io_.restart();
    io_.run();
    return microseconds;
}

asio::awaitable<void> keyed_queue::step(times& microseconds)
{
    const clock::time_point start = clock::now();
    const std::int64_t own = co_await queue_->enqueue("1", what_.own);
    microseconds.enqueue = microseconds_since(start);

    const clock::time_point middle = clock::now();
    skein::job job = co_await queue_->claim();
    const bool is_ours = co_await job.ack();
    microseconds.claim_and_ack = microseconds_since(middle);

    if (!is_ours || job.id() != own) {
        throw std::logic_error("the claim took what it should have passed over");
    }
}

} // namespace benchmarks
