#include "crowded_file.hpp"

#include "create_tables.hpp"
#include "fill_file.hpp"
#include "rethrow.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/co_spawn.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace benchmarks {

namespace {

constexpr std::string_view own_payload = "own";

skein::database open(asio::io_context& io, const std::string& path)
{
    skein::database_options options;
    options.durability = skein::durability::normal;
    return skein::database(io.get_executor(), path, options);
}

void insert(SQLite::Database& file, const crowd& what, int count)
{
    const std::string numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                " LIMIT " +
                                std::to_string(count) + ") ";
    const std::string group(what.group);
    const std::string blocked_until(what.blocked_until);
    file.exec(numbers +
              "INSERT OR IGNORE INTO harel_transport_groups"
              " (group_id, priority, routing_key, blocked_until) SELECT " +
              group + ", " + std::string(what.priority) + ", " + std::string(what.routing_key) +
              ", " + blocked_until + " FROM n");
    if (what.state == crowd::messages::lost) {
        return;
    }
    file.exec(numbers +
              "INSERT INTO harel_transport_messages"
              " (group_id, event, locked_by, lock_expiry) SELECT " +
              group + ", 'crowd', " + std::string(what.locked_by) + ", " + blocked_until +
              " FROM n");
}

} // namespace

crowded_file::crowded_file(const crowd& what, int count) : what_(what)
{
    create_tables(file_.path());
    fill_file(file_.path(), [&](SQLite::Database& file) { insert(file, what, count); });
    database_.emplace(open(io_, file_.path()));
    transport_.emplace(database_->transport());
}

double crowded_file::claim_and_ack()
{
    double microseconds = 0;
    asio::co_spawn(io_, step(microseconds), rethrow);
    io_.restart();
    io_.run();
    return microseconds;
}

asio::awaitable<void> crowded_file::step(double& microseconds)
{
    using clock = std::chrono::steady_clock;
    const std::string fresh = "own-" + std::to_string(published_++);
    co_await publish(what_.own_group.empty() ? std::string_view(fresh) : what_.own_group);

    const clock::time_point start = clock::now();
    skein::message message = co_await transport_->claim(what_.claim);
    const bool is_ours = co_await message.ack();
    const std::chrono::duration<double, std::micro> took = clock::now() - start;

    const bool is_own = message.payload() == own_payload;
    if (!is_ours || (what_.role == crowd::place::passed_over && !is_own)) {
        throw std::logic_error("the claim took what it should have passed over");
    }
    microseconds = took.count();
}

asio::awaitable<void> crowded_file::publish(std::string_view group)
{
    return transport_->publish(group, own_payload, what_.own);
}

} // namespace benchmarks
