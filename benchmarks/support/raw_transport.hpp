#pragma once

#include <skein/database_options.hpp>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <string>

namespace benchmarks {

/// The yardstick: the statements that a transport runs, prepared once, in a plain loop on one
/// connection and one thread, with a given number of messages in each transaction.
class raw_transport {
public:
    /// The file's tables must exist.
    raw_transport(const std::string& path, skein::durability level);

    /// Publishes that many messages in one transaction, each to another of as many groups.
    void publish(std::size_t messages, const std::string& payload);

    /// Claims that many messages in one transaction and acknowledges them in another.
    void claim_and_ack(std::size_t messages);

private:
    struct claimed {
        std::int64_t seq;
        std::string group;
        std::string lock;
    };

    claimed claim();
    void ack(const claimed& message);

    SQLite::Database database_;
    SQLite::Statement begin_;
    SQLite::Statement commit_;
    SQLite::Statement insert_group_;
    SQLite::Statement insert_message_;
    SQLite::Statement next_group_;
    SQLite::Statement head_;
    SQLite::Statement set_claimed_;
    SQLite::Statement lock_;
    SQLite::Statement remove_group_;
    SQLite::Statement remove_message_;
    std::size_t claims_ = 0;
    double stamp_ = 1e9;
};

} // namespace benchmarks
