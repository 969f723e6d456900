#pragma once

#include <skein/database_options.hpp>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace benchmarks {

/// The yardstick: the statements that a stream runs, prepared once, in a plain loop on one
/// connection and one thread.
class raw_stream {
public:
    /// The file's tables must exist.
    raw_stream(const std::string& path, skein::durability level);

    /// Publishes that many events in one transaction.
    void publish(std::size_t events, const std::string& payload);

    /// Reads at most that many events behind the last that it has read. Returns how many.
    std::size_t read(std::size_t most);

private:
    SQLite::Database database_;
    SQLite::Statement begin_;
    SQLite::Statement commit_;
    SQLite::Statement insert_;
    SQLite::Statement read_;
    std::int64_t offset_ = 0;
};

} // namespace benchmarks
