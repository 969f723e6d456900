#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/dead_letter_room.hpp"
#include "store/queue/fenced_statement.hpp"
#include "store/queue/job_fence.hpp"

#include <cstdint>
#include <string_view>

namespace skein::store {

/// What came of a retry.
enum class retry_outcome {
    stale,   ///< nothing: the fence does not hold
    waiting, ///< the job will be claimed again
    dead,    ///< there was no attempt left: it is a dead letter
};

/// What the holder of a claim may do with its job. A fence that does not hold is an answer, not an
/// error: nothing has changed then. Times are epoch seconds; what would leave their range stops at
/// its end. All wants a write transaction.
class job_finisher {
public:
    explicit job_finisher(sqlite::connection connection);

    /// Removes the job: it is done.
    bool ack(const job_fence& fence, std::int64_t now);

    /// Gives the job back for another attempt in `delay` seconds, at once when that is not
    /// positive; when there is none left, makes it a dead letter with this error. Wants a
    /// savepoint.
    retry_outcome retry(const job_fence& fence, std::int64_t delay, std::string_view error,
                        std::int64_t now);

    /// The two halves of a retry, for callers who can open a savepoint only for the second: giving
    /// back what has attempts left, and making a dead letter of what has none.
    bool give_back(const job_fence& fence, std::int64_t delay, std::int64_t now);
    bool bury_exhausted(const job_fence& fence, std::string_view error, std::int64_t now);

    /// Whether the fence holds, and no attempt is left: whether `bury_exhausted` would act. Only
    /// reads.
    [[nodiscard]] bool is_exhausted(const job_fence& fence, std::int64_t now);

    /// Makes the job a dead letter, be there attempts left or not. The error is kept as
    /// `kept_error_text` makes it. Wants a savepoint.
    bool fail(const job_fence& fence, std::string_view error, std::int64_t now);

    /// Lets the lease end in so many seconds from now, sooner than before if need be. With an
    /// attempt in the fence also a lease that has lapsed and that nobody has taken since.
    bool extend(const job_fence& fence, std::int64_t seconds, std::int64_t now);

    /// Gives the job back at once and in its old place, as if it had not been claimed: the attempt
    /// is made good by one more that is allowed, since what counts attempts is the fence.
    bool release(const job_fence& fence, std::int64_t now);

    /// Gives the job back for `delay` seconds; this attempt does not count either.
    bool snooze(const job_fence& fence, std::int64_t delay, std::int64_t now);

    /// Whether the job is in this queue.
    bool is_in(std::string_view queue, std::int64_t id);

private:
    bool remove_buried(std::int64_t id, bool is_buried);

    dead_letter_room room_;
    fenced_statement ack_;
    fenced_statement give_back_;
    fenced_statement is_exhausted_;
    fenced_statement bury_exhausted_;
    fenced_statement fail_;
    fenced_statement extend_;
    fenced_statement release_;
    fenced_statement snooze_;
    sqlite::statement remove_;
    sqlite::statement find_in_;
};

} // namespace skein::store
