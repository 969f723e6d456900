#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skein::store {

/// How long a job holds its key.
struct unique_key {
    std::string_view key;
    bool while_running = false; ///< also while it is claimed, not only while it waits
    /// Seconds from now for which the key is taken in any case, be the job finished.
    std::optional<std::int64_t> period = std::nullopt;
};

/// Throws `store::invalid_argument`.
void require_unique_key(const unique_key& wanted);

/// Who holds the keys of a queue: at most one job each. Times are epoch seconds.
class unique_jobs {
public:
    explicit unique_jobs(sqlite::connection connection);

    /// The job that holds the key; nothing when it is free. Only reads.
    [[nodiscard]] std::optional<std::int64_t> holder(std::string_view queue, std::string_view key,
                                                     std::int64_t now);

    /// Gives a key that is free to a job that has just been enqueued. A job that had it before goes
    /// on without it. Wants a write transaction with a savepoint.
    void take(std::string_view queue, std::int64_t id, const unique_key& wanted, std::int64_t now);

private:
    void forget_ended(std::int64_t now);

    sqlite::statement find_holder_;
    sqlite::statement take_;
    sqlite::statement let_live_;
    sqlite::statement forget_;
};

} // namespace skein::store
