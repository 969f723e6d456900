#pragma once

#include <skein/database_options.hpp>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <string>

namespace benchmarks {

/// The yardstick: the statements that a queue runs, prepared once, in a plain loop on one
/// connection and one thread, with a given number of jobs in each transaction.
class raw_queue {
public:
    /// The file's tables must exist.
    raw_queue(const std::string& path, skein::durability level);

    /// Enqueues that many jobs in one transaction.
    void enqueue(std::size_t jobs, const std::string& payload);

    /// Claims that many jobs in one transaction, by one statement, and acknowledges them in
    /// another.
    void claim_and_ack(std::size_t jobs);

private:
    SQLite::Database database_;
    SQLite::Statement begin_;
    SQLite::Statement commit_;
    SQLite::Statement insert_;
    SQLite::Statement chores_;
    SQLite::Statement claim_one_;
    SQLite::Statement claim_many_;
    SQLite::Statement ack_;
};

} // namespace benchmarks
