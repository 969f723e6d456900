#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skein::store {

/// What is to become different of a job that waits. What is absent stays. Times are epoch seconds.
struct job_change {
    std::optional<std::string_view> payload = std::nullopt; ///< JSON text
    std::optional<std::int64_t> priority = std::nullopt;
    /// When it is due: as for `new_job`.
    std::optional<std::int64_t> run_at = std::nullopt;
    std::optional<std::int64_t> delay = std::nullopt;
};

/// Throws `store::invalid_payload`.
void require_change(const job_change& wanted);

/// Changes jobs that wait to be claimed, due or not, held or not. One that is claimed stays as its
/// worker has got it.
class job_changer {
public:
    explicit job_changer(sqlite::connection connection);

    /// Whether the queue has such a job that waits. The change must be one that `require_change`
    /// accepts. Wants a write transaction with a savepoint.
    bool change(std::string_view queue, std::int64_t id, const job_change& wanted,
                std::int64_t now);

private:
    bool make_due(std::string_view queue, std::int64_t id, const job_change& wanted,
                  std::int64_t now);

    sqlite::statement change_;
    sqlite::statement make_due_;
};

} // namespace skein::store
