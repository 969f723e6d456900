#pragma once

#include <skein/export.hpp>
#include <skein/job_info.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace skein {

namespace api {
struct queue_state;
}

/// Which dead letters are meant: those that meet all that is given.
struct dead_letter_filter {
    /// Those that died before this moment.
    std::optional<clock::wall_time> died_before = {};

    /// Those with exactly this text as their error, as it is kept (see `job::retry`).
    std::optional<std::string_view> last_error = {};
};

/// Which dead letters `dead_letters::list` tells.
struct dead_letter_list_options {
    /// At most so many; at least 1. Other operations wait while a page is read: keep it small.
    std::size_t limit = 100;

    /// Those behind this place: that of the last letter of the page before. Absent: from the oldest
    /// on.
    std::optional<job_place> after = {};

    // As in `dead_letter_filter`. The letters with another error are walked past: where there are
    // many of them, a page costs what lies between.
    std::optional<clock::wall_time> died_before = {};
    std::optional<std::string_view> last_error = {};
};

/// Which dead letters may stay. What neither limit is given for is never too much.
struct dead_letter_retention {
    /// Those that died longer ago than this go. Whole seconds; zero: all that died before the
    /// current second.
    std::optional<std::chrono::seconds> older_than = {};

    /// So many stay, the newest ones; those before them go. Zero: none stays.
    std::optional<std::size_t> keep = {};
};

/// The number of a dead letter, and that of the job that was made of it.
struct redriven_job {
    std::int64_t dead_id = 0;
    std::int64_t job_id = 0;

    friend bool operator==(const redriven_job&, const redriven_job&) = default;
};

/// The jobs of one queue that nobody will run: tried too often, failed, or expired. They are kept,
/// in the order in which they died, until somebody redrives or removes them. Nothing else does.
///
/// What concerns many of them is done in slices, from the oldest on, each in a commit of its own,
/// which looks at no more than 500: other operations, and other processes, get in between. It ends
/// at what was the newest letter when it began; of those that come to be meanwhile, only ones of
/// that same second may be among what is done.
///
/// Cancelling, closing the database, or an error ends it between two slices, as any operation:
/// `asio::error::operation_aborted`, `errc::closed` or the error is thrown. What the slices before
/// have done stays done, and is not told; doing it again does the rest.
///
/// A letter has the number of its job. Where another program has put a job back under the number of
/// a letter that is still there, and that job dies too, the earlier letter gets a new number.
///
/// A handle, as `queue` is, and made by `queue::dead_letters`. What is said there of all operations
/// holds here, too.
class SKEIN_EXPORT dead_letters {
public:
    /// Returns: nothing when the queue has no such letter, be there such a job or not.
    [[nodiscard]] asio::awaitable<std::optional<job_info>> find(std::int64_t id) const;

    /// A page of letters, the oldest first.
    ///
    /// Throws: `errc::invalid_argument` for a limit of zero.
    [[nodiscard]] asio::awaitable<std::vector<job_info>>
    list(dead_letter_list_options options = {}) const;

    /// Makes a new job of the letter: due at once, with its payload, its priority and as many
    /// attempts as the old job had, none of them used. It never expires. The letter is removed.
    ///
    /// Returns: the new job's number; nothing when the queue has no such letter (any more). The
    ///          number is another one, so that a worker of the old job cannot finish the new one.
    [[nodiscard]] asio::awaitable<std::optional<std::int64_t>> redrive(std::int64_t id) const;
    /// Throws also: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] std::optional<std::int64_t> redrive(transaction& tx, std::int64_t id) const;

    /// Redrives letters, in slices. The oldest is the first to be claimed, among equal priorities.
    ///
    /// Returns: what has become of each, in the order of their deaths.
    /// Throws: `errc::invalid_argument` for a filter that names nothing; see `redrive_all`.
    [[nodiscard]] asio::awaitable<std::vector<redriven_job>>
    redrive_many(dead_letter_filter filter) const;
    [[nodiscard]] asio::awaitable<std::vector<redriven_job>> redrive_all() const;

    /// Removes letters for good, in slices.
    ///
    /// Returns: how many.
    /// Throws: `errc::invalid_argument` for a filter that names nothing; see `purge_all`.
    [[nodiscard]] asio::awaitable<std::size_t> purge(dead_letter_filter filter) const;
    [[nodiscard]] asio::awaitable<std::size_t> purge_all() const;

    /// Removes letters that are too old or too many, in slices: call it now and then.
    ///
    /// Returns: how many.
    /// Throws: `errc::invalid_argument` when neither limit is given, and for a negative time.
    /// Cost: that of what is removed, and once a short step for each letter of `keep`.
    [[nodiscard]] asio::awaitable<std::size_t> prune(dead_letter_retention retention) const;

    /// Two handles are equal when they are of one queue of one database object.
    [[nodiscard]] bool operator==(const dead_letters& other) const noexcept;

private:
    friend class queue;

    explicit dead_letters(std::shared_ptr<const api::queue_state> state) noexcept;

    std::shared_ptr<const api::queue_state> state_;
};

} // namespace skein
