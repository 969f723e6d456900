#pragma once

#include <skein/error.hpp>
#include <skein/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace skein {

// What an observer is told. The texts are there during the call.

/// How a job came to be.
enum class job_origin {
    program,     ///< `queue::enqueue`, alone or many at once
    schedule,    ///< the moment of a schedule that this database object runs
    dead_letter, ///< a redrive
};

/// A job is in a queue.
struct job_enqueued {
    std::string_view queue;
    std::int64_t id = 0;
    job_origin origin = job_origin::program;
};

/// A job was handed to a worker.
struct job_claimed {
    std::string_view queue;
    std::int64_t id = 0;
    std::int64_t attempt = 0; ///< counted from 1
    std::int64_t max_attempts = 0;
    std::string_view worker;
    /// Since it was due, in the whole seconds that the file has. After a lapsed lease that includes
    /// the attempt that was lost; after a retry it counts from the end of its delay.
    std::chrono::seconds waited{};
};

/// A job, and the claim of it that something was done with.
struct job_attempt {
    /// Of the handle that it was done through.
    std::string_view queue;
    std::int64_t id = 0;
    std::int64_t attempt = 0;
    /// From the claim, by the steady clock. Absent when it was finished by its fence alone.
    std::optional<std::chrono::nanoseconds> held;
};

/// A job is done, and removed.
struct job_acked : job_attempt {};

/// An attempt has failed, and there will be another.
struct job_retried : job_attempt {
    std::chrono::seconds delay{};
    std::string_view error; ///< as it was given
};

/// A job was given back without counting the attempt: released, snoozed, or dropped unread.
struct job_released : job_attempt {
    std::chrono::seconds delay{}; ///< zero unless it was snoozed
};

/// Why a job is a dead letter.
enum class death_cause {
    failed,    ///< its worker said so
    exhausted, ///< its last attempt has failed, or the lease of that has lapsed
    expired,   ///< nobody claimed it in its time
};

/// A job is a dead letter. Where time has made it one there is no attempt (0), and nothing held.
struct job_died : job_attempt {
    death_cause cause = death_cause::failed;
    std::string_view error;
};

/// A worker came too late: the job had been claimed by another, cancelled, or finished before.
struct job_lease_lost : job_attempt {
    std::string_view
        verb; ///< what it wanted: "ack", "retry", "fail", "extend", "release", "snooze"
};

/// A job was taken back with `cancel`.
struct job_cancelled {
    std::string_view queue;
    std::int64_t id = 0;
};

/// A message is in a transport.
struct message_published {
    std::string_view transport; ///< its prefix, in lower case
    std::string_view group;
};

/// A message was handed to a worker.
struct message_claimed {
    std::string_view transport;
    std::string_view group;
    std::int64_t seq = 0;
    std::string_view worker;
};

/// A message, and the claim of it that something was done with.
struct message_attempt {
    std::string_view transport;
    std::string_view group;
    std::int64_t seq = 0;
    /// From the claim, by the steady clock. Absent when it was finished by its fence alone.
    std::optional<std::chrono::nanoseconds> held;
};

/// A message is done, and removed.
struct message_acked : message_attempt {};

/// A message was given back: by a nack, or because its handle was dropped.
struct message_nacked : message_attempt {
    std::chrono::duration<double> delay{}; ///< zero: it can be claimed at once
};

/// A worker came too late: the message had been claimed by another, or settled before.
struct message_lease_lost : message_attempt {
    std::string_view verb; ///< what it wanted: "ack", "nack", "extend"
};

/// An event is in a stream.
struct event_published {
    std::string_view topic;
    std::int64_t offset = 0;
};

/// A notification is in its channel.
struct notification_published {
    std::string_view channel;
    std::int64_t id = 0;
};

/// A group commit is over: what was told since the one before is in the file.
struct batch_committed {
    std::size_t operations = 0; ///< calls of users that were in it, those that have failed too
    std::size_t failed = 0;     ///< of these, those that failed, and were undone alone
    std::chrono::nanoseconds duration{}; ///< from BEGIN, once the lock was held, to after COMMIT
    std::chrono::nanoseconds commit{};   ///< of that, COMMIT alone: what the disk takes
};

/// Operations have failed together, and none of them has happened: SQLite has ended their
/// transaction, or refused to begin or to commit it.
struct batch_failed {
    std::size_t operations = 0;
    const error& reason;
};

/// A wait for a lock that another process held is over.
struct lock_awaited {
    std::chrono::nanoseconds waited{}; ///< from the first refusal to the try that got through
    std::size_t timed_out = 0;         ///< operations that gave up meanwhile, with `errc::busy`
};

/// A look at the file is over: `database::read`, and what lists, finds or counts.
struct read_finished {
    std::chrono::nanoseconds duration{};
    bool has_failed = false;
};

/// Is told what one database object does, for metrics and tracing: given to it in
/// `database_options::observer`. Each function is about one kind of event and does nothing unless
/// it is overridden. Later versions may add more.
///
///     struct counting : skein::observer {
///         void on_job_acked(const skein::job_acked& event) override { ++done[event.queue]; }
///     };
///
/// What is told: what was committed through this object, and nothing that was undone, be it with
/// its batch, by a failure of its own, by a callback that has thrown, or by a savepoint of the
/// user's inside a callback. Each event is told once. That includes what its claims do in passing:
/// jobs that have expired, or whose last lease has lapsed, become dead letters. What other
/// processes do, what other database objects of this process do, and what anybody's own SQL does
/// (the `honker_*` functions included, also inside `database::transaction`), is not told: an
/// observer counts one object's share, `queue::counts` counts the file. Nor is told: a lease that
/// lapses (the next claim of that job, or its death, is), jobs that become dead letters while an
/// older file is upgraded or because a schedule's stored payload is no JSON, and dead letters that
/// are removed.
///
/// When: after the commit, and before the operation returns to its caller: once `co_await
/// job.ack()` has returned, `on_job_acked` has been called. The events of a batch come in the order
/// in which they happened, then `on_batch_committed`. Of one job: enqueued, claimed, then how that
/// ended.
///
/// Threads: called on the database's strand, one call at a time; with `database(path)` that is its
/// own thread. One observer of two databases is called by both at once. Everything waits meanwhile:
/// count, or hand over, and return; never wait for an operation of the database inside. The
/// database keeps the observer until it has been closed and its last handle is gone, so the
/// observer must not keep the database.
///
/// Exceptions: what a function throws is caught; the batch and the other events are untouched. The
/// log is told of the first one.
///
/// Cost: without an observer none but a branch; with one, some allocations for each operation.
/// Inside `database::transaction` each event writes a row of a temporary table of the connection's,
/// which is how savepoints are followed.
class SKEIN_EXPORT observer {
public:
    observer() = default;
    observer(const observer&) = delete;
    observer& operator=(const observer&) = delete;
    virtual ~observer() = default;

    virtual void on_job_enqueued(const job_enqueued& /*event*/) {}
    virtual void on_job_claimed(const job_claimed& /*event*/) {}
    virtual void on_job_acked(const job_acked& /*event*/) {}
    virtual void on_job_retried(const job_retried& /*event*/) {}
    virtual void on_job_released(const job_released& /*event*/) {}
    virtual void on_job_died(const job_died& /*event*/) {}
    virtual void on_job_lease_lost(const job_lease_lost& /*event*/) {}
    virtual void on_job_cancelled(const job_cancelled& /*event*/) {}

    virtual void on_message_published(const message_published& /*event*/) {}
    virtual void on_message_claimed(const message_claimed& /*event*/) {}
    virtual void on_message_acked(const message_acked& /*event*/) {}
    virtual void on_message_nacked(const message_nacked& /*event*/) {}
    virtual void on_message_lease_lost(const message_lease_lost& /*event*/) {}

    virtual void on_event_published(const event_published& /*event*/) {}
    virtual void on_notification_published(const notification_published& /*event*/) {}

    virtual void on_batch_committed(const batch_committed& /*event*/) {}
    virtual void on_batch_failed(const batch_failed& /*event*/) {}
    virtual void on_lock_awaited(const lock_awaited& /*event*/) {}
    virtual void on_read_finished(const read_finished& /*event*/) {}
};

} // namespace skein
