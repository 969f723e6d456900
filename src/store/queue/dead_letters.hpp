#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/held_jobs.hpp"
#include "store/queue/job_limits.hpp"

#include <compare>
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

    friend auto operator<=>(const dead_letter_position&, const dead_letter_position&) = default;
};

/// How far a walk goes: up to the last letter that meets what is given.
struct dead_letter_limits {
    std::optional<std::int64_t> died_before = std::nullopt; ///< epoch seconds
    // Of what is to be kept. Where both are given, it is enough that one gives a letter up.
    std::optional<std::int64_t> older_than = std::nullopt; ///< seconds
    std::optional<std::int64_t> keep = std::nullopt;       ///< so many of the newest
};

/// A walk through the dead letters of one queue, from the oldest on.
struct dead_letter_walk {
    std::string_view queue;
    dead_letter_position after; ///< behind this one: as far as it has come
    dead_letter_position last;  ///< up to this one
    std::optional<std::string_view> last_error = std::nullopt; ///< as of the filter
};

/// A part of such a walk.
struct dead_letter_slice {
    std::vector<std::int64_t> ids; ///< of those with the error that is meant
    dead_letter_position end;      ///< where the next part goes on
    bool is_last = true;           ///< there is no next one
};

/// The dead letters of queues, in the order in which they died: the oldest first. Nothing removes
/// them by itself. What removes many walks through them in parts, each in a transaction of its
/// own, so that the lock is not held for long however many there are.
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

    /// The newest letter of the queue but `kept` that are newer: the last one of a walk that leaves
    /// so many alone. Nothing when there are no more than that. Walks past the newer ones. `kept`
    /// is not negative. Only reads.
    [[nodiscard]] std::optional<dead_letter_position> newest_but(std::string_view queue,
                                                                 std::int64_t kept);

    /// Where a walk with these limits ends. What is given up, by age or by number, is the older
    /// part of the letters either way. Only reads.
    [[nodiscard]] dead_letter_position
    last_within(std::string_view queue, const dead_letter_limits& limits, std::int64_t now);

    /// The next part of a walk: looks at `most` letters, whatever their errors are, or at those
    /// that are left. Only reads.
    [[nodiscard]] dead_letter_slice next_slice(const dead_letter_walk& walk, std::int64_t most);

    /// Makes a new job of the letter, which is removed: due at once, with its old payload,
    /// priority and number of attempts (at least one), none of them used. It gets a new number,
    /// because the attempts of the old one are known to workers as its fence. It has the limit that
    /// the old one had, and no unique key. Returns that number;
    /// nothing when the queue has no such letter. Wants a write transaction with a savepoint.
    std::optional<std::int64_t> redrive(std::string_view queue, std::int64_t id, std::int64_t now);

    /// Removes the letter. Wants a write transaction.
    void remove(std::int64_t id);

private:
    held_jobs held_;
    job_limits limits_;
    sqlite::statement find_;
    sqlite::statement list_at_;
    sqlite::statement list_after_;
    sqlite::statement newest_but_;
    sqlite::statement walk_at_;
    sqlite::statement walk_after_;
    sqlite::statement insert_job_;
    sqlite::statement remove_;
};

} // namespace skein::store
