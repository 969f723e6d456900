#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <string_view>

namespace skein::store {

/// Asks workers to stop what they do. It is a claim that is asked for: the next one of the same job
/// knows nothing of it.
class stop_requests {
public:
    explicit stop_requests(sqlite::connection connection);

    /// Asks for the claim that is under way, be its lease lapsed or not. False when the queue has
    /// no such job that is claimed. Wants a write transaction.
    bool request(std::string_view queue, std::int64_t id);

    /// Whether this claim was asked to stop. Only reads.
    [[nodiscard]] bool is_requested(std::int64_t id, std::int64_t attempt);

private:
    sqlite::statement request_;
    sqlite::statement find_;
};

} // namespace skein::store
