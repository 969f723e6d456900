#pragma once

#include <skein/await_argument.hpp>
#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/payload.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace skein {

namespace api {
struct results_state;
}

/// How the results of a file are kept.
struct results_options {
    /// Whether to create or upgrade the tables at the first use that writes; a wait upgrades older
    /// ones, too. False leaves the schema to somebody else (see <skein/schema.hpp>): the first use
    /// fails when the tables are not there.
    bool create_schema = true;
};

/// What goes with a result.
struct save_options {
    /// How long the result is kept, counted from the commit's moment; more than zero. Whole
    /// seconds, so that it comes up to one second early. Absent: until it is removed.
    std::optional<std::chrono::seconds> ttl = {};
};

/// Which results `results::prune` leaves; at least one of both is given.
struct result_retention {
    /// Those that were first saved no longer than this ago: zero or more. Absent: of any age.
    std::optional<std::chrono::seconds> older_than = {};

    /// At most so many, the last ones by the time of their first save; zero means none. Absent: any
    /// number.
    std::optional<std::size_t> keep = {};
};

/// How a job died.
struct job_death {
    /// Why: what was told to `job::fail` or `job::retry`, "expired", or "max attempts exceeded".
    /// Absent where another program wrote none.
    std::optional<std::string> last_error;
    clock::wall_time died_at;
};

/// How a job has ended, as `results::wait` tells it: with a result, as a dead letter, or neither.
struct SKEIN_EXPORT job_end {
    /// The text as it was saved, byte for byte. Where there is one, nobody has looked whether the
    /// job is dead.
    std::optional<std::string> result;

    std::optional<job_death> death;

    /// Whether there is neither: the job was acknowledged without a result, or its result is over
    /// or removed; it was cancelled; its dead letter was removed or redriven; or there has never
    /// been such a job.
    [[nodiscard]] bool is_gone() const noexcept { return !result && !death; }

    /// The result as a value, through `payload_codec<Value>` (see <skein/json.hpp>).
    ///
    /// Throws: what the codec throws; `errc::invalid_payload` when there is no result, with the
    /// last error of a job that died in its text.
    template <class Value>
    [[nodiscard]] Value value() const
    {
        return payload_codec<Value>::decode(required_result());
    }

private:
    [[nodiscard]] const std::string& required_result() const;
};

/// What jobs have come to, kept in the file under their numbers: a worker saves it, and whoever has
/// enqueued the job gets it, or waits for it. One for all queues of a file.
///
///     auto finish = [&](skein::transaction& tx) {
///         const bool is_ours = job.ack(tx);
///         if (is_ours) {
///             results.save(tx, job.id(), R"({"pages":3})", {.ttl = 1h});
///         }
///         return is_ours;
///     };
///     const bool is_ours = co_await db.transaction(finish);
///
/// Times are whole seconds of the wall clock. Nothing removes results by itself, not even those
/// whose time is over: see `sweep` and `prune`.
///
/// A handle: cheap to copy, safe from any thread and executor, alive as long as anybody holds it.
/// Made by `database::results`; a moved-from one may only be assigned to or destroyed.
///
/// All operations own their arguments, throw, resume and can be cancelled as those of `queue`.
class SKEIN_EXPORT results {
public:
    /// Keeps a result, in the place of an earlier one. Whoever waits for the job gets it.
    ///
    /// `job_id`: any number; there need be no such job. Nothing checks whose job it is: a worker
    /// that may have overrun its lease saves as above.
    /// `text`: JSON of any kind, as for `queue::enqueue`.
    /// Throws: `errc::invalid_payload`, `errc::payload_too_large`, and `errc::invalid_argument` for
    /// a `ttl` of zero or less, from the call itself.
    [[nodiscard]] asio::awaitable<void> save(std::int64_t job_id, std::string_view text,
                                             save_options options = {}) const;

    /// Keeps a value, encoded by `payload_codec` (see <skein/json.hpp>).
    ///
    /// Throws also: what the codec throws; nothing is saved then.
    template <class Value>
        requires encodable<std::remove_cvref_t<Value>>
    [[nodiscard]] asio::awaitable<void> save(std::int64_t job_id, Value&& value,
                                             save_options options = {}) const
    {
        static_assert(is_safe_await_argument<Value>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the value first: "
                      "const T value{...}; co_await results.save(job_id, value);");
        const std::string text = payload_codec<std::remove_cvref_t<Value>>::encode(value);
        return save(job_id, std::string_view(text), options);
    }

    /// Keeps a result inside a transaction: it is there if and when that commits.
    ///
    /// Throw also: `errc::invalid_argument` for a transaction of another database.
    void save(transaction& tx, std::int64_t job_id, std::string_view text,
              save_options options = {}) const;
    template <class Value>
        requires encodable<Value>
    void save(transaction& tx, std::int64_t job_id, const Value& value,
              save_options options = {}) const
    {
        const std::string text = payload_codec<Value>::encode(value);
        save(tx, job_id, std::string_view(text), options);
    }

    /// The result of a job, as it is now. Only reads; makes no tables.
    ///
    /// Returns: the text as it was saved; nothing when there is none, or none any more. Whether the
    /// job still runs is not looked at, see `wait`.
    [[nodiscard]] asio::awaitable<std::optional<std::string>> get(std::int64_t job_id) const;

    /// The same inside a transaction.
    ///
    /// Throws also: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] std::optional<std::string> get(transaction& tx, std::int64_t job_id) const;

    /// Waits without limit until the job has ended, in whatever process: until its result is saved,
    /// or it is dead, or gone. A job that is still live goes on being waited for, through all its
    /// attempts, unless a result of it is there. A number that no job has (yet) is gone at once:
    /// wait for jobs whose `enqueue` has returned.
    ///
    /// A job that has expired, or whose last lease has lapsed, dies at the next claim from its
    /// queue, or at the next look at what has expired there: without either, it is waited for.
    ///
    /// Waiting costs no query; an end that this database commits wakes only those who wait for that
    /// job. After a commit of another process, or a transaction of the user's, each job that is
    /// waited for is looked up. No write lock is taken, but to upgrade tables of an older shape.
    /// Throws: `errc::closed` when the database is closed before.
    [[nodiscard]] asio::awaitable<job_end> wait(std::int64_t job_id) const;

    /// Waits for at most `limit`.
    ///
    /// `limit`: zero or negative means now or nothing, the longest duration means no limit.
    /// Returns: nothing when the limit has passed: the job is still live.
    [[nodiscard]] asio::awaitable<std::optional<job_end>> wait_within(duration limit,
                                                                      std::int64_t job_id) const;

    /// Removes the results whose time is over. They count as gone before, too: this gives back
    /// their room.
    ///
    /// Works in slices, each at most 500 results and a commit of its own, so that nobody waits for
    /// long. Returns how many it has removed.
    /// Cancellation, errors: between two slices, too; what the slices before have removed stays
    /// removed, and how many those were is not told.
    [[nodiscard]] asio::awaitable<std::size_t> sweep() const;

    /// Removes results that are too old, and those that are too many, be their time over or not.
    /// The age counts from the first save, also where a later one has replaced the text.
    ///
    /// Works in slices, as `sweep`; for a number, each walks past the results that are kept.
    /// Returns how many it has removed.
    /// Throws: `errc::invalid_argument` from the call itself for a negative age, and when neither
    /// is given.
    /// Cancellation, errors: as `sweep`.
    [[nodiscard]] asio::awaitable<std::size_t> prune(result_retention retention) const;

    /// Two handles are equal when they are of one database object.
    [[nodiscard]] bool operator==(const results& other) const noexcept;

private:
    friend class database;

    explicit results(std::shared_ptr<const api::results_state> state) noexcept;

    std::shared_ptr<const api::results_state> state_;
};

} // namespace skein
