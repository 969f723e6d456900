#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/payload.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace skein {

namespace api {
struct job_lease;
}

/// What came of a retry.
enum class retry_outcome {
    stale,   ///< nothing: the job is not ours any more
    waiting, ///< it will be claimed again
    dead,    ///< that was its last attempt: it is a dead letter
};

/// Names one claim of one job, for finishing it elsewhere: plain values that can be stored or sent.
/// Every claim raises the job's number of attempts and nothing lowers it, so that one from an
/// earlier claim is stale.
class SKEIN_EXPORT job_fence {
public:
    job_fence() = default;
    job_fence(std::int64_t id, std::string worker, std::int64_t attempt)
        : id_(id), worker_(std::move(worker)), attempt_(attempt)
    {
    }

    [[nodiscard]] std::int64_t id() const noexcept { return id_; }
    [[nodiscard]] const std::string& worker() const noexcept { return worker_; }
    [[nodiscard]] std::int64_t attempt() const noexcept { return attempt_; }

private:
    std::int64_t id_ = 0;
    std::string worker_;
    std::int64_t attempt_ = 0;
};

/// A job that was claimed, and the lease on it. Move-only.
///
/// Dropping it unsettled gives the job back at once: after a throw, when `claim() || timer` loses
/// its race, when a suspended coroutine is destroyed. The attempt counts if somebody has looked at
/// the payload, so that a handler that always throws ends in the dead letters; otherwise it does
/// not. Once `ack()` has been tried the work is taken as done: if that fails with an error,
/// dropping keeps the lease, which ends by itself.
///
/// What finishes the job acts only while the job is still ours, and says whether it did. A lapsed
/// lease is still ours until somebody else has claimed the job.
///
/// Thread-safety: one handle is used by one thread at a time; different handles are independent.
class SKEIN_EXPORT job {
public:
    /// Holds nothing; claims return jobs that hold something.
    job() noexcept;
    job(job&& other) noexcept;
    job& operator=(job&& other) noexcept;
    ~job();

    /// Whether there is a job: false for a default constructed or moved-from one. Everything below
    /// but assignment needs a true one.
    [[nodiscard]] explicit operator bool() const noexcept { return lease_ != nullptr; }

    /// Its number, which no other job of the file has or has had.
    [[nodiscard]] std::int64_t id() const noexcept;

    /// The queue it is from; valid as long as this handle.
    [[nodiscard]] std::string_view queue() const noexcept;

    /// The payload as it was enqueued, byte for byte; valid as long as this handle. From now on the
    /// attempt counts, see above.
    [[nodiscard]] std::string_view payload() const noexcept;

    /// The payload as a value, through `payload_codec<Value>` (see <skein/json.hpp>).
    ///
    /// Throws: what the codec throws, `errc::invalid_payload` with ours. The lease is untouched:
    /// the job can still be finished, see `fail`.
    template <class Value>
    [[nodiscard]] Value payload() const
    {
        return payload_codec<Value>::decode(payload());
    }

    /// Which attempt this is, counted from 1, and how many there may be.
    [[nodiscard]] std::int64_t attempt() const noexcept;
    [[nodiscard]] std::int64_t max_attempts() const noexcept;

    /// The second in which it was claimed, and the last one in which the lease holds, by the wall
    /// clock of the machine.
    [[nodiscard]] clock::wall_time claimed_at() const noexcept;
    [[nodiscard]] clock::wall_time expires_at() const noexcept;

    /// Removes the job for good: its work is done.
    ///
    /// Returns: true when it was removed by this call. False when it is not ours any more: somebody
    /// else has claimed it since, it was cancelled, or it was finished before. Nothing has changed
    /// then.
    /// Throws: `skein::error` (see `database`). Whether the job is gone is then not known, unless
    /// the code is `errc::busy`; the lease is kept.
    /// Cancellation: until its batch begins, all types; nothing has been done, the lease is kept.
    /// Thread-safety: resumes on the caller's executor.
    [[nodiscard]] asio::awaitable<bool> ack();

    /// Gives the job back for another attempt, or, when this was the last, makes it a dead letter.
    ///
    /// `delay`: until it is due again. Zero or negative: at once.
    /// `error`: why, kept with the dead letter: the first 4096 bytes, made valid UTF-8. Forgotten
    ///          when there is another attempt. Empty: "max attempts exceeded".
    /// Returns: what came of it; the lease is over either way.
    /// Throws, Cancellation: as `ack`; dropping the handle then gives the job back.
    [[nodiscard]] asio::awaitable<retry_outcome> retry(std::chrono::seconds delay = {},
                                                       std::string_view error = {});

    /// Makes the job a dead letter, be there attempts left or not.
    ///
    /// `error`: why, kept as `retry` keeps it.
    /// Returns: whether it was ours, see `ack`; the lease is over either way.
    /// Throws, Cancellation: as `retry`.
    [[nodiscard]] asio::awaitable<bool> fail(std::string_view error);

    /// Moves the end of the lease to `visibility` from now: a heartbeat. It may come nearer.
    ///
    /// Returns: true, and `expires_at` tells the new end; false when it is not ours any more.
    /// Throws, Cancellation: as `ack`, and `errc::invalid_argument` for a negative length. The
    /// lease is as it was.
    [[nodiscard]] asio::awaitable<bool> extend(std::chrono::seconds visibility);

    /// Whether somebody has asked for this claim to stop (see `queue::request_stop`), as the last
    /// `extend` has learned. What is done about it is for the holder to say; the lease goes on.
    [[nodiscard]] bool stop_requested() const noexcept;

    /// Gives the job back at once, in its old place, as if it had not been claimed. The attempt is
    /// made good: `max_attempts` rises by one, since `attempt` never goes down.
    ///
    /// Returns: whether it was ours, see `ack`; the lease is over either way.
    /// Throws, Cancellation: as `retry`.
    [[nodiscard]] asio::awaitable<bool> release();

    /// Puts the job off without counting the attempt: as `release`, but due in `delay`.
    ///
    /// `delay`: zero or negative means at once.
    [[nodiscard]] asio::awaitable<bool> snooze(std::chrono::seconds delay);

    /// The same inside a transaction of the database that the job is from: they take effect if and
    /// when it commits. Called from its callback only.
    ///
    /// Throw: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] bool ack(transaction& tx);
    [[nodiscard]] retry_outcome retry(transaction& tx, std::chrono::seconds delay = {},
                                      std::string_view error = {});
    [[nodiscard]] bool fail(transaction& tx, std::string_view error);
    [[nodiscard]] bool extend(transaction& tx, std::chrono::seconds visibility);
    [[nodiscard]] bool release(transaction& tx);
    [[nodiscard]] bool snooze(transaction& tx, std::chrono::seconds delay);

    /// Keeps the lease and gives up the handle: the job is finished elsewhere by its fence (see
    /// `queue::ack`), or comes back when the lease ends.
    [[nodiscard]] job_fence detach();

private:
    friend struct api::job_lease;

    explicit job(std::shared_ptr<api::job_lease> lease) noexcept;
    void drop() noexcept;

    std::shared_ptr<api::job_lease> lease_;
};

} // namespace skein
