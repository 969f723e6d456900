#pragma once

#include <skein/await_argument.hpp>
#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/job.hpp>
#include <skein/job_info.hpp>
#include <skein/job_keys.hpp>
#include <skein/payload.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace skein {

class dead_letters;
class queue_choice;

namespace api {
struct queue_choice_state;
struct queue_state;
} // namespace api

/// How a queue treats its jobs. It is told to each handle; the file does not keep it.
struct queue_options {
    /// How long a claimed job is leased unless the claim says otherwise: longer than its work
    /// takes. Zero or more.
    std::chrono::seconds visibility = std::chrono::minutes{5};

    /// How often a job is tried unless its `enqueue` says otherwise; at least 1.
    std::int64_t max_attempts = 3;

    /// Whether to create or upgrade the tables at the first use. False leaves the schema to
    /// somebody else (see <skein/schema.hpp>): the first use fails when the tables are not there.
    bool create_schema = true;
};

/// What goes with a job.
struct enqueue_options {
    /// How long until the job is due. Absent, zero or negative: at once. Whole seconds, so that it
    /// comes up to one second early.
    std::optional<std::chrono::seconds> delay = {};

    /// When the job is due, rounded up to a second; instead of a delay. A moment that has passed
    /// means at once, and before those that fell due later.
    std::optional<clock::wall_time> run_at = {};

    /// The highest is claimed first; among equals who was due first, then who was enqueued first.
    /// (Of jobs that were delayed, a claim makes the first 1,000 ready that have fallen due.)
    std::int64_t priority = 0;

    /// After this long, counted from the commit's moment, the job is worthless: it becomes a dead
    /// letter unless somebody has it just then. Absent: never. Zero or negative: it is dead at
    /// once.
    std::optional<std::chrono::seconds> expires_in = {};

    /// How often it is tried before it becomes a dead letter; at least 1. Absent:
    /// `queue_options::max_attempts`.
    std::optional<std::int64_t> max_attempts = {};

    /// Keys: at most one job of a key, and at most so many that run. See <skein/job_keys.hpp>.
    unique_options unique = {};
    concurrency_options concurrency = {};
};

/// One of the jobs of `enqueue_many`.
struct new_job {
    std::string_view payload;
    enqueue_options options = {};
};

/// Who claims, and for how long.
struct job_claim_options {
    /// Written into the file beside the lease, for those who look, and part of the fence. Empty: an
    /// id of the database object. Workers may share one.
    std::string_view worker = {};

    /// How long the job is leased; absent: `queue_options::visibility`. Zero or more.
    std::optional<std::chrono::seconds> visibility = {};
};

/// A queue of jobs: each is claimed by one worker at a time, tried until it is acknowledged, and
/// put aside as a dead letter when it has been tried too often. At least once; not in order among
/// workers. Take a `transport` where messages of one subject must stay in order.
///
/// A job is leased by a claim and removed by `ack`. Attempts are counted when it is claimed, so
/// that a job that kills its worker each time ends in the dead letters, too. Jobs whose lease has
/// lapsed are claimed again. Times are whole seconds of the wall clock.
///
/// A handle: cheap to copy, safe from any thread and executor, alive as long as anybody holds it.
/// Made by `database::queue`; a moved-from one may only be assigned to or destroyed.
///
/// All operations
/// - own their arguments from the call on, so nothing that is passed needs to live longer;
/// - throw `errc::invalid_argument`, `errc::invalid_payload` and `errc::payload_too_large` from the
///   call itself, and the other errors of `database` when they are awaited;
/// - resume on the caller's executor;
/// - can be cancelled, with every type of cancellation, until their batch begins: they end with
///   `asio::error::operation_aborted` and have done nothing. From then on they run to their end and
///   return their result.
class SKEIN_EXPORT queue {
public:
    /// Its name; valid as long as any handle of this queue.
    [[nodiscard]] std::string_view name() const noexcept;

    /// Adds a job.
    ///
    /// `payload`: JSON text of any kind (`{}`, `[]`, `"text"`, `42`, `null`), which every program
    /// can decode: no lone surrogates, no number beyond a double, nested at most 128 deep. It is
    /// stored and delivered byte for byte.
    /// Returns: its number, when it is committed (see `database_options::durability`); of one that
    /// is unique also whether there is a new job, or which one holds the key.
    [[nodiscard]] asio::awaitable<enqueued_job> enqueue(std::string_view payload,
                                                        enqueue_options options = {}) const;

    /// Adds a job whose payload is a value, encoded by `payload_codec` (see <skein/json.hpp>).
    ///
    /// Throws also: what the codec throws; nothing is enqueued then.
    template <class Value>
        requires encodable<std::remove_cvref_t<Value>>
    [[nodiscard]] asio::awaitable<enqueued_job> enqueue(Value&& value,
                                                        enqueue_options options = {}) const
    {
        static_assert(is_safe_await_argument<Value>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the value first: "
                      "const T value{...}; co_await queue.enqueue(value);");
        const std::string text = payload_codec<std::remove_cvref_t<Value>>::encode(value);
        return enqueue(std::string_view(text), options);
    }

    /// Adds a job inside a transaction: it is there if and when that commits.
    ///
    /// Throw also: `errc::invalid_argument` for a transaction of another database.
    enqueued_job enqueue(transaction& tx, std::string_view payload,
                         enqueue_options options = {}) const;
    template <class Value>
        requires encodable<Value>
    enqueued_job enqueue(transaction& tx, const Value& value, enqueue_options options = {}) const
    {
        const std::string text = payload_codec<Value>::encode(value);
        return enqueue(tx, std::string_view(text), options);
    }

    /// Adds jobs, in this order and in one commit: all of them or none.
    ///
    /// A batch is held together: other operations, and other processes that want to write, wait
    /// until all of it is written.
    /// Returns: for each of them, in the same order, what `enqueue` returns.
    [[nodiscard]] asio::awaitable<std::vector<enqueued_job>>
    enqueue_many(std::span<const new_job> jobs) const;
    std::vector<enqueued_job> enqueue_many(transaction& tx, std::span<const new_job> jobs) const;

    /// Leases the first job that is due. Waits without limit until there is one; cancel it, close
    /// the database, or use `claim_within`. See `queue_choice` for several queues at once.
    ///
    /// Waiting costs no query. Waiters of one queue are served in the order they came.
    /// Returns: a job, leased to the caller. Lease: from the second in which the write lock was
    /// held. Throws: `errc::closed` when the database is closed before there is a job.
    [[nodiscard]] asio::awaitable<job> claim(job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<job> claim(std::string_view worker) const;

    /// Leases a job if one is due now.
    ///
    /// Returns: nothing when none is.
    [[nodiscard]] asio::awaitable<std::optional<job>>
    try_claim(job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::optional<job>> try_claim(std::string_view worker) const;

    /// Leases a job; waits for at most `limit`.
    ///
    /// `limit`: zero or negative means now or nothing, the longest duration means no limit.
    /// Returns: nothing when the limit has passed.
    [[nodiscard]] asio::awaitable<std::optional<job>>
    claim_within(duration limit, job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::optional<job>> claim_within(duration limit,
                                                                   std::string_view worker) const;

    /// Leases up to `most` jobs in one commit. Waits until there is one; it does not wait for more.
    ///
    /// `most`: 1 to 1000. Claims that wait together share what there is.
    /// Returns: at least one job, in the order of their claim.
    /// Otherwise like `claim`; the other forms return no job where theirs return nothing.
    [[nodiscard]] asio::awaitable<std::vector<job>>
    claim_many(std::size_t most, job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::vector<job>>
    try_claim_many(std::size_t most, job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::vector<job>>
    claim_many_within(duration limit, std::size_t most, job_claim_options options = {}) const;

    /// What a `job` does, for several of them, in one commit. The jobs may be of any queues of this
    /// database. The handles may be dropped as soon as it is awaited; after an error those that are
    /// kept are as they were, but that an attempt to acknowledge counts as one.
    ///
    /// Returns: for each job what its own verb would have returned.
    /// Throws also: `errc::invalid_argument` from the call itself for an empty handle, or one of
    /// another database.
    [[nodiscard]] asio::awaitable<std::vector<bool>> ack_many(std::span<const job> jobs) const;
    [[nodiscard]] asio::awaitable<std::vector<retry_outcome>>
    retry_many(std::span<const job> jobs, std::chrono::seconds delay = {},
               std::string_view error = {}) const;
    [[nodiscard]] asio::awaitable<std::vector<bool>> fail_many(std::span<const job> jobs,
                                                               std::string_view error) const;
    [[nodiscard]] asio::awaitable<std::vector<bool>>
    extend_many(std::span<const job> jobs, std::chrono::seconds visibility) const;
    [[nodiscard]] asio::awaitable<std::vector<bool>> release_many(std::span<const job> jobs) const;
    [[nodiscard]] asio::awaitable<std::vector<bool>> snooze_many(std::span<const job> jobs,
                                                                 std::chrono::seconds delay) const;

    /// What a `job` does, for the holder of a fence (see `job::detach`).
    [[nodiscard]] asio::awaitable<bool> ack(const job_fence& fence) const;
    [[nodiscard]] asio::awaitable<retry_outcome> retry(const job_fence& fence,
                                                       std::chrono::seconds delay = {},
                                                       std::string_view error = {}) const;
    [[nodiscard]] asio::awaitable<bool> fail(const job_fence& fence, std::string_view error) const;
    [[nodiscard]] asio::awaitable<bool> extend(const job_fence& fence,
                                               std::chrono::seconds visibility) const;
    [[nodiscard]] asio::awaitable<bool> release(const job_fence& fence) const;
    [[nodiscard]] asio::awaitable<bool> snooze(const job_fence& fence,
                                               std::chrono::seconds delay) const;

    /// The job, live or dead.
    ///
    /// Returns: nothing when the queue has no such job (any more).
    [[nodiscard]] asio::awaitable<std::optional<job_info>> find(std::int64_t id) const;

    /// A page of the live jobs in one state: pending ones in the order of their claim, scheduled
    /// ones as they fall due, and those that are processing as their leases end. Reading page after
    /// page, each job that stays where it is comes once.
    ///
    /// `state`: `pending`, `scheduled` or `processing`. The dead ones are told by `dead_letters`.
    /// Throws: `errc::invalid_argument` for another state, and for a limit of zero.
    /// Cost: that of the page, however many jobs there are.
    [[nodiscard]] asio::awaitable<std::vector<job_info>> list(job_state state,
                                                              job_list_options options = {}) const;

    /// How much there is in the queue.
    ///
    /// Cost: an index entry of each job and dead letter. Other operations wait meanwhile.
    [[nodiscard]] asio::awaitable<queue_counts> counts() const;

    /// When a claim will find something if nothing else happens: the current second when one would
    /// now, otherwise the end of a delay or of a lease. Never too late; too early where jobs that
    /// have expired, or have no attempt left, stand in front by the dozen.
    ///
    /// Returns: nothing when there is nothing to wait for.
    [[nodiscard]] asio::awaitable<std::optional<clock::wall_time>> next_due() const;

    /// Takes a job back, in whatever state it is; no dead letter is left. A worker that has it
    /// learns of it when it finishes: its `ack` returns false.
    ///
    /// Returns: false when the queue has no such live job (any more). Nothing has changed then.
    [[nodiscard]] asio::awaitable<bool> cancel(std::int64_t id) const;
    /// Throws also: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] bool cancel(transaction& tx, std::int64_t id) const;

    /// Changes a job that waits to be claimed, be it due or not, held or not.
    ///
    /// Returns: false when the queue has no such job that waits (any more): a job that is claimed
    /// stays as its worker has got it. Nothing has changed then.
    /// Throw also: `errc::invalid_argument` where both a delay and a time are given;
    /// `errc::invalid_payload` and `errc::payload_too_large`.
    [[nodiscard]] asio::awaitable<bool> change(std::int64_t id, job_change wanted) const;
    [[nodiscard]] bool change(transaction& tx, std::int64_t id, job_change wanted) const;

    /// Asks the worker that has the job to stop. It learns of it with its next heartbeat (see
    /// `job::stop_requested`, and `run`, which cancels the handler) and may finish the job as it
    /// likes. The request is for this claim alone: should the job be claimed again, nothing is left
    /// of it.
    ///
    /// Returns: false when nobody has claimed the job, or when it is gone; see `cancel`.
    [[nodiscard]] asio::awaitable<bool> request_stop(std::int64_t id) const;
    [[nodiscard]] bool request_stop(transaction& tx, std::int64_t id) const;

    /// Pauses the queue for all processes, whatever programs they run: from the commit on no job of
    /// it is claimed, lapsed leases included. Jobs that are claimed go on; jobs can be enqueued,
    /// changed and cancelled, and they expire.
    ///
    /// Until then its jobs are held: they are `scheduled`, of a far future, and `job_info` tells
    /// when they are really due. They are put aside in slices, each at most 500 jobs and a commit
    /// of its own, so that nobody waits for long.
    /// Returns: false when it is paused already; what is left to be put aside then is.
    /// Cancellation, errors: between two slices, too. It is paused then, and claims put aside what
    /// they come across.
    [[nodiscard]] asio::awaitable<bool> pause() const;

    /// Lets jobs be claimed again. Those that were held come back in slices, those first that are
    /// due first; until all of them are back, jobs of a higher priority may come late.
    ///
    /// Returns: false when it is not paused; what is left to be given back then is.
    /// Cancellation, errors: between two slices, too. It is not paused then, and each claim, and
    /// each end of a job, gives some more of them back.
    [[nodiscard]] asio::awaitable<bool> resume() const;

    /// Whether it is paused.
    [[nodiscard]] asio::awaitable<bool> is_paused() const;

    /// Makes dead letters of all jobs that have expired, those apart that a worker has under a
    /// lease that holds. Claims do the same, for a thousand jobs at a time: this is for queues that
    /// nobody claims from.
    ///
    /// All of them go in one commit, which other writers wait for.
    /// Returns: how many.
    [[nodiscard]] asio::awaitable<std::size_t> sweep_expired() const;
    [[nodiscard]] std::size_t sweep_expired(transaction& tx) const;

    /// What has become of the jobs that nobody will run. See <skein/dead_letters.hpp>.
    [[nodiscard]] skein::dead_letters dead_letters() const;

    /// Two handles are equal when they name one queue of one database object.
    [[nodiscard]] bool operator==(const queue& other) const noexcept;

private:
    friend class database;
    friend class queue_choice;
    friend struct api::queue_choice_state;

    explicit queue(std::shared_ptr<const api::queue_state> state) noexcept;
    [[nodiscard]] queue_choice alone() const;

    std::shared_ptr<const api::queue_state> state_;
};

} // namespace skein
