#include "ledger.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/VariadicBind.h>

#include <algorithm>
#include <iterator>

namespace package_log::ledger {
namespace {

std::size_t to_size(const SQLite::Column& column)
{
    return static_cast<std::size_t>(column.getInt64());
}

std::size_t index_of(const SQLite::Column& worker)
{
    const auto found = std::ranges::find(workers, worker.getString());
    return static_cast<std::size_t>(std::distance(workers.begin(), found));
}

std::size_t one_number(const SQLite::Database& file, const char* sql)
{
    SQLite::Statement query(file, sql);
    query.executeStep();
    return to_size(query.getColumn(0));
}

} // namespace

void create(SQLite::Database& file)
{
    // Nothing is unique but by the queue's doing: the tables would show a repetition.
    file.exec("CREATE TABLE signed_in (worker TEXT);"
              "CREATE TABLE deliveries (seq INTEGER, worker TEXT);"
              "CREATE TABLE processed (position INTEGER PRIMARY KEY, seq INTEGER, worker TEXT,"
              "                        package TEXT, line INTEGER);"
              "CREATE INDEX processed_seq ON processed (seq);"
              "CREATE TABLE packages (package TEXT PRIMARY KEY, state TEXT, version TEXT)");
}

void sign_in(SQLite::Database& file, const std::string& worker)
{
    SQLite::Statement insert(file, "INSERT INTO signed_in (worker) VALUES (?)");
    SQLite::bind(insert, worker);
    insert.exec();
}

std::size_t count_signed_in(const SQLite::Database& file)
{
    return one_number(file, "SELECT COUNT(DISTINCT worker) FROM signed_in");
}

void note_delivery(SQLite::Database& file, std::int64_t seq, const std::string& worker)
{
    SQLite::Statement insert(file, "INSERT INTO deliveries (seq, worker) VALUES (?, ?)");
    SQLite::bind(insert, seq, worker);
    insert.exec();
}

void process(SQLite::Database& file, std::int64_t seq, const std::string& worker,
             const std::string& package, const package_event& event)
{
    SQLite::Statement insert(
        file, "INSERT INTO processed (seq, worker, package, line) VALUES (?, ?, ?, ?)");
    SQLite::bind(insert, seq, worker, package, event.line);
    insert.exec();

    if (event.action == "status") {
        SQLite::Statement update(file, "REPLACE INTO packages VALUES (?, ?, ?)");
        SQLite::bind(update, package, event.state, event.version);
        update.exec();
    }
}

progress count_on(const SQLite::Database& file, progress last)
{
    SQLite::Statement query(file, "SELECT worker, COUNT(*), MAX(position) FROM processed"
                                  " WHERE position > ? GROUP BY worker");
    query.bind(1, last.position);
    progress now = last;
    while (query.executeStep()) {
        now.by_worker.at(index_of(query.getColumn(0))) += to_size(query.getColumn(1));
        now.position = std::max<std::int64_t>(now.position, query.getColumn(2).getInt64());
    }
    return now;
}

shares in_hand(const SQLite::Database& file)
{
    SQLite::Statement query(file, "SELECT worker, COUNT(DISTINCT seq) FROM deliveries"
                                  " WHERE seq NOT IN (SELECT seq FROM processed) GROUP BY worker");
    shares result{};
    while (query.executeStep()) {
        result.at(index_of(query.getColumn(0))) = to_size(query.getColumn(1));
    }
    return result;
}

totals count(const SQLite::Database& file)
{
    totals result;
    result.processed = one_number(file, "SELECT COUNT(DISTINCT line) FROM processed");
    result.repeated = one_number(file, "SELECT COUNT(*) - COUNT(DISTINCT line) FROM processed");
    result.out_of_order = one_number(
        file, "SELECT COUNT(*) FROM (SELECT line <= MAX(line) OVER (PARTITION BY package"
              " ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS late"
              " FROM processed) WHERE late");
    result.redelivered = one_number(file, "SELECT COUNT(*) - COUNT(DISTINCT seq) FROM deliveries");
    return result;
}

package_states states(const SQLite::Database& file)
{
    SQLite::Statement query(file, "SELECT package, state, version FROM packages");
    package_states result;
    while (query.executeStep()) {
        result[query.getColumn(0).getString()] = {.state = query.getColumn(1).getString(),
                                                  .version = query.getColumn(2).getString()};
    }
    return result;
}

} // namespace package_log::ledger
