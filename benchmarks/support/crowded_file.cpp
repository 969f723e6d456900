#include "crowded_file.hpp"

#include "create_tables.hpp"
#include "rethrow.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/co_spawn.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

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

void sync_file(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool is_synced = file >= 0 && ::fsync(file) == 0;
    ::close(file);
    if (!is_synced) {
        throw std::system_error(errno, std::generic_category(), path);
    }
}

/// Runs `work` without the file's indexes, and builds them afterwards: much faster.
template <class Work>
void without_indexes(SQLite::Database& file, Work work)
{
    std::vector<std::string> statements;
    std::string drops;
    SQLite::Statement find(file, "SELECT sql, 'DROP INDEX ' || name || ';' FROM sqlite_schema"
                                 " WHERE type = 'index' AND sql IS NOT NULL");
    while (find.executeStep()) {
        statements.push_back(find.getColumn(0).getString());
        drops += find.getColumn(1).getString();
    }
    find.reset();
    file.exec(drops);
    work();
    for (const std::string& each : statements) {
        file.exec(each);
    }
}

/// While nobody else has the file open. What was written is on the disk afterwards: it would be in
/// the way of what is measured.
void fill(const std::string& path, const crowd& what, int count)
{
    {
        SQLite::Database file(path, SQLite::OPEN_READWRITE);
        file.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                  "PRAGMA cache_size = -1000000; BEGIN");
        without_indexes(file, [&] { insert(file, what, count); });
        file.exec("COMMIT");
    }
    sync_file(path);
}

} // namespace

crowded_file::crowded_file(const crowd& what, int count) : what_(what)
{
    create_tables(file_.path());
    fill(file_.path(), what, count);
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
