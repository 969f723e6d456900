#pragma once

#include <skein/export.hpp>

namespace SQLite {
class Database;
}

namespace skein {

namespace runtime {
class batch;
}

/// The write transaction that the callback of `database::transaction` runs in.
///
/// It lives as long as the callback and may be used by it alone, on the thread that calls it. The
/// verbs that take a transaction first (`transport::publish`, `message::ack`, …) and the user's own
/// statements happen together or not at all.
class SKEIN_EXPORT transaction {
public:
    /// Made by the database.
    explicit transaction(runtime::batch& batch) noexcept : batch_(batch) {}
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;

    /// The connection, for the user's own statements:
    ///
    ///     SQLite::Statement insert(tx.database(), "INSERT INTO orders (id) VALUES (?)");
    ///
    /// Statements that would end the transaction (COMMIT, ROLLBACK and the like) are refused.
    [[nodiscard]] SQLite::Database& database() const noexcept;

private:
    friend class consumer;
    friend class database;
    friend class dead_letters;
    friend class job;
    friend class lock_guard;
    friend class message;
    friend class named_lock;
    friend class queue;
    friend class rate_limit;
    friend class results;
    friend class scheduler;
    friend class stream;
    friend class transport;

    runtime::batch& batch_;
};

} // namespace skein
