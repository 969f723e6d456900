#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/payload.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace skein {

namespace api {
struct message_lease;
}

/// Names one claim of one message, for finishing it elsewhere: plain values that can be stored or
/// sent. Every claim makes a new one; one from an earlier claim is stale.
class SKEIN_EXPORT message_fence {
public:
    message_fence() = default;
    message_fence(std::int64_t seq, std::string group, std::string token)
        : seq_(seq), group_(std::move(group)), token_(std::move(token))
    {
    }

    /// The message's place in the order of all messages; never used again.
    [[nodiscard]] std::int64_t seq() const noexcept { return seq_; }
    [[nodiscard]] const std::string& group() const noexcept { return group_; }
    /// Tells this claim from every other one.
    [[nodiscard]] const std::string& token() const noexcept { return token_; }

private:
    std::int64_t seq_ = 0;
    std::string group_;
    std::string token_;
};

/// A message that was claimed, and the lease on it. Move-only.
///
/// Dropping it unsettled gives the message back at once: after a throw, when `claim() || timer`
/// loses its race, when a suspended coroutine is destroyed. Once `ack()` has been tried the work is
/// taken as done: if that fails with an error, dropping keeps the lease, which ends by itself.
///
/// Thread-safety: one handle is used by one thread at a time; different handles are independent.
class SKEIN_EXPORT message {
public:
    /// Holds nothing; claims return messages that hold something.
    message() noexcept;
    message(message&& other) noexcept;
    message& operator=(message&& other) noexcept;
    ~message();

    /// Whether there is a message: false for a default constructed or moved-from one. Everything
    /// below but assignment needs a true one.
    [[nodiscard]] explicit operator bool() const noexcept { return lease_ != nullptr; }

    /// The payload as it was published, byte for byte; valid as long as this handle.
    [[nodiscard]] std::string_view payload() const noexcept;

    /// The payload as a value, through `payload_codec<Value>` (see <skein/json.hpp>).
    ///
    /// Throws: what the codec throws, `errc::invalid_payload` with ours. The lease is untouched:
    /// the message can still be acknowledged or given back.
    template <class Value>
    [[nodiscard]] Value payload() const
    {
        return payload_codec<Value>::decode(payload());
    }

    /// The group it was published to; valid as long as this handle.
    [[nodiscard]] std::string_view group() const noexcept;

    /// Its place in the order of all messages; within a group, the order of delivery.
    [[nodiscard]] std::int64_t seq() const noexcept;

    /// The end of the lease, by the wall clock of the machine.
    [[nodiscard]] clock::wall_time expires_at() const noexcept;

    /// Removes the message for good: its work is done.
    ///
    /// Returns: true when it was removed by this call. False when the lease is not ours any more:
    /// it had lapsed and somebody else claimed the message, or it was settled before. Nothing has
    /// changed then. A lapsed lease that nobody has taken since is still ours.
    /// Throws: `skein::error` (see `database`). Whether the message is gone is then not known,
    /// unless the code is `errc::busy`; the lease is kept.
    /// Cancellation: until its batch begins, all types; nothing has been done, the lease is kept.
    /// Thread-safety: resumes on the caller's executor.
    [[nodiscard]] asio::awaitable<bool> ack();

    /// Gives the message back: claimable at once, or, with a delay, parked for so long. A parked
    /// message blocks its whole group, since the order within the group is kept. The group goes
    /// behind those that were not claimed since.
    ///
    /// `delay`: zero or negative means at once.
    /// Returns: true when it was given back by this call; false when the lease is not ours any more
    /// (see `ack`). The lease is over either way.
    /// Throws, Cancellation: as `ack`; dropping the handle then tries again to give it back.
    [[nodiscard]] asio::awaitable<bool> nack(duration delay = duration::zero());

    /// Moves the end of the lease to `visibility` from now. It may come nearer.
    ///
    /// Returns: true, and `expires_at` tells the new end; false when the lease is not ours any more
    /// (see `ack`).
    /// Throws, Cancellation: as `ack`, and `errc::invalid_argument` for a negative length. The
    /// lease is as it was.
    [[nodiscard]] asio::awaitable<bool> extend(duration visibility);

    /// `ack`, `nack` and `extend` inside a transaction of the database that the message is from:
    /// they take effect if and when it commits. Called from its callback only.
    ///
    /// Throws: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] bool ack(transaction& tx);
    [[nodiscard]] bool nack(transaction& tx, duration delay = duration::zero());
    [[nodiscard]] bool extend(transaction& tx, duration visibility);

    /// Keeps the lease and gives up the handle: the message is finished elsewhere by its fence (see
    /// `transport::ack`), or comes back when the lease ends.
    [[nodiscard]] message_fence detach();

private:
    friend struct api::message_lease;

    explicit message(std::shared_ptr<api::message_lease> lease) noexcept;
    void drop() noexcept;

    std::shared_ptr<api::message_lease> lease_;
};

} // namespace skein
