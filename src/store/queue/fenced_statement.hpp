#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/job_fence.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace skein::store {

/// What a job must be for somebody who gives no attempt: in the state of a claimed one, too, or
/// merely under a lease of theirs.
enum class unfenced_guard { processing, leased };

/// A statement that acts on one live job, and only while the fence holds; both kinds of fence have
/// theirs. In it `?4` and the following are its own parameters.
class fenced_statement {
public:
    /// `action` is what comes before the condition, and `further` is added to it.
    fenced_statement(sqlite::connection connection, std::string_view action, unfenced_guard guard,
                     std::string_view further = "")
        : fenced_(
              connection,
              std::string(action) +
                  " WHERE id = ?1 AND worker_id = ?2 AND attempts = ?3 AND state = 'processing'" +
                  std::string(further)),
          unfenced_(connection,
                    std::string(action) +
                        " WHERE id = ?1 AND worker_id = ?2 AND claim_expires_at >= ?3" +
                        (guard == unfenced_guard::processing ? " AND state = 'processing'" : "") +
                        std::string(further))
    {
    }

    /// Returns whether it has acted.
    template <class... Values>
    bool run(const job_fence& fence, std::int64_t now, const Values&... values)
    {
        return chosen(fence).run(fence.id, fence.worker_id, fence.attempts.value_or(now),
                                 values...) == 1;
    }

    /// Of one that only reads: whether there is a row.
    bool finds(const job_fence& fence, std::int64_t now)
    {
        return chosen(fence).start(fence.id, fence.worker_id, fence.attempts.value_or(now)).step();
    }

private:
    sqlite::statement& chosen(const job_fence& fence) noexcept
    {
        return fence.attempts ? fenced_ : unfenced_;
    }

    sqlite::statement fenced_;
    sqlite::statement unfenced_;
};

} // namespace skein::store
