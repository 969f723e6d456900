#include "raw_stream.hpp"

#include <ctime>
#include <vector>

namespace benchmarks {

namespace {

void run(SQLite::Statement& statement)
{
    statement.exec();
    statement.reset();
}

struct event {
    std::int64_t offset = 0;
    std::string key;
    std::string payload;
    std::int64_t created_at = 0;
};

} // namespace

raw_stream::raw_stream(const std::string& path, skein::durability level)
    : database_(path, SQLite::OPEN_READWRITE), begin_(database_, "BEGIN IMMEDIATE"),
      commit_(database_, "COMMIT"),
      insert_(database_, "INSERT INTO _honker_stream (topic, key, payload, created_at)"
                         " VALUES ('t', 'k', ?1, ?2)"),
      read_(database_, "SELECT offset, key, payload, created_at FROM _honker_stream"
                       " WHERE topic = 't' AND offset > ?1 ORDER BY offset LIMIT ?2")
{
    database_.exec(level == skein::durability::full ? "PRAGMA synchronous = FULL"
                                                    : "PRAGMA synchronous = NORMAL");
    // As skein's. Otherwise it would make the checkpoints for both.
    database_.exec("PRAGMA cache_size = -16384");
    database_.exec("PRAGMA wal_autocheckpoint = 4000");
}

void raw_stream::publish(std::size_t events, const std::string& payload)
{
    run(begin_);
    for (std::size_t each = 0; each < events; ++each) {
        insert_.bindNoCopy(1, payload);
        insert_.bind(2, static_cast<std::int64_t>(std::time(nullptr)));
        run(insert_);
    }
    run(commit_);
}

std::size_t raw_stream::read(std::size_t most)
{
    std::vector<event> found;
    read_.bind(1, offset_);
    read_.bind(2, static_cast<std::int64_t>(most));
    while (read_.executeStep()) {
        found.push_back({read_.getColumn(0).getInt64(), read_.getColumn(1).getString(),
                         read_.getColumn(2).getString(), read_.getColumn(3).getInt64()});
    }
    read_.reset();
    if (!found.empty()) {
        offset_ = found.back().offset;
    }
    return found.size();
}

} // namespace benchmarks
