#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skein::store {

/// Looks at what holds jobs, in files that may have nothing of the kind (see `held_job_tables`). It
/// is asked only where something looks as if it were held.
class held_jobs {
public:
    explicit held_jobs(sqlite::connection connection);

    /// When a job that is held is really due, in epoch seconds; nothing when it is not held. Only
    /// reads.
    [[nodiscard]] std::optional<std::int64_t> due_time(std::int64_t id);

    /// Whether the queue is paused. Only reads.
    [[nodiscard]] bool is_paused(std::string_view queue);

    /// Whether there is anything that could hold a job. Only reads.
    [[nodiscard]] bool has_tables();

private:
    sqlite::statement find_tables_;
    sqlite::statement due_time_;
    sqlite::statement find_paused_;
};

} // namespace skein::store
