#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <string_view>

namespace skein::store {

/// How many jobs of a queue that have the same key may run at once. See `held_job_tables`.
struct job_limit {
    std::string_view key;
    std::int64_t most = 1;
};

/// Throws `store::invalid_argument`.
void require_limit(const job_limit& limit);

/// Limits jobs. What is said last of a key is what holds for all of its jobs.
class job_limits {
public:
    explicit job_limits(sqlite::connection connection);

    /// Limits a job that has just been enqueued. The limit must be one that `require_limit`
    /// accepts. Wants a write transaction with a savepoint.
    void limit(std::string_view queue, std::int64_t id, const job_limit& limit);

    /// Limits a job that has just been made of a dead letter as the dead one was. What holds for
    /// the key by now stays. Nothing happens where it had no limit. Wants a savepoint, too.
    void limit_again(std::string_view queue, std::int64_t id, std::int64_t letter);

private:
    sqlite::statement set_;
    sqlite::statement add_;
    sqlite::statement set_again_;
    sqlite::statement find_letter_;
};

} // namespace skein::store
