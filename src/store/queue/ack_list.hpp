#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <string_view>

namespace skein::store {

/// Acknowledges many jobs by a list in JSON, as `honker_ack_batch` takes it.
class ack_list {
public:
    explicit ack_list(sqlite::connection connection);

    /// Removes the worker's jobs that the list names, and returns how many those were. An element
    /// is a number, `7`, or a number and an attempt, `[7, 3]`, which is a fence; see `job_fence`.
    /// What names no job of the worker's counts nothing. Wants a write transaction.
    std::int64_t ack(std::string_view list, std::string_view worker_id, std::int64_t now);

private:
    sqlite::statement remove_;
};

} // namespace skein::store
