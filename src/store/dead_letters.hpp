#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// A job that nobody will run, kept until somebody looks at it. Times are epoch seconds.
struct dead_letter {
    std::int64_t id = 0; ///< the job's
    std::string queue;
    std::string payload;
    std::int64_t priority = 0;
    std::int64_t run_at = 0;
    std::int64_t attempts = 0;
    std::int64_t max_attempts = 0;
    std::optional<std::string> last_error;
    std::int64_t created_at = 0; ///< of the job
    std::int64_t died_at = 0;
};

/// Which dead letters of one queue are meant: all that meet what is given.
struct dead_letter_filter {
    std::string_view queue;
    std::optional<std::int64_t> died_before = std::nullopt;    ///< epoch seconds
    std::optional<std::string_view> last_error = std::nullopt; ///< the whole text
};

/// A place in the order of dead letters: after the one with this time of death and number.
/// Without these it is before the first.
struct dead_letter_position {
    std::int64_t died_at = std::numeric_limits<std::int64_t>::min();
    std::int64_t id = std::numeric_limits<std::int64_t>::min();
};

/// The number of a dead letter and of the job that was made of it.
struct redriven_job {
    std::int64_t dead_id = 0;
    std::int64_t job_id = 0;
};

/// The dead letters of queues, in the order in which they died: the oldest first. Nothing removes
/// them by itself. What removes many takes at most so many at once, so that the lock is not held
/// for long, and is called again until it takes fewer.
///
/// Whatever the filter, the letters of other queues and those that died later cost nothing; those
/// with another error are walked past.
class dead_letters {
public:
    explicit dead_letters(sqlite::connection connection);

    /// Only reads.
    [[nodiscard]] std::optional<dead_letter> find(std::int64_t id);

    /// At most `limit` letters, those behind `after`. Only reads.
    [[nodiscard]] std::vector<dead_letter>
    list(const dead_letter_filter& filter, const dead_letter_position& after, std::int64_t limit);

    /// Makes a new job of the letter, which is removed: due at once, with its old payload,
    /// priority and number of attempts (at least one), none of them used. It gets a new number,
    /// because the attempts of the old one are known to workers as its fence. Returns that number;
    /// nothing when the queue has no such letter. Want a write transaction with a savepoint.
    std::optional<std::int64_t> redrive(std::string_view queue, std::int64_t id, std::int64_t now);
    std::vector<redriven_job> redrive_many(const dead_letter_filter& filter, std::int64_t most,
                                           std::int64_t now);

    /// Removes at most `most` letters. Returns how many. Wants a write transaction.
    std::int64_t purge(const dead_letter_filter& filter, std::int64_t most);

    /// Removes at most `most` of those that `kept` letters of the queue are newer than. Returns how
    /// many. Walks past the newer ones. `kept` is not negative. Wants a write transaction.
    std::int64_t keep_newest(std::string_view queue, std::int64_t kept, std::int64_t most);

private:
    sqlite::statement find_;
    sqlite::statement list_at_;
    sqlite::statement list_after_;
    sqlite::statement choose_;
    sqlite::statement insert_job_;
    sqlite::statement remove_;
    sqlite::statement purge_;
    sqlite::statement keep_newest_;
};

} // namespace skein::store
