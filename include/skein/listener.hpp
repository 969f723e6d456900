#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/notification.hpp>

#include <asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace skein {

namespace api {
class listener_place;
}

/// One who listens to a channel: gets every notification that is committed after `database::listen`
/// has returned, in the order of their commits, in whatever process they are made.
///
///     skein::listener inbox = co_await db.listen("orders");
///     while (true) {
///         const skein::notification note = co_await inbox.next();
///         std::cout << note.payload << '\n';
///     }
///
/// Each listener reads the file from a place of its own: what floods another channel, or how fast
/// other listeners are, does not concern it. It is kept in memory, so it ends with the program.
/// Nothing removes notifications by itself; when `database::prune_notifications`, or another
/// program, has removed some that it would have read, its next call throws `lagged`.
///
/// Waiting costs no query. When something has come, those who wait at the same place of a channel
/// read it together, with one query.
///
/// Move-only; a moved-from one may only be assigned to or destroyed. Thread-safe, but one call at a
/// time is accepted: a second one throws `errc::invalid_argument` when it is awaited.
class SKEIN_EXPORT listener {
public:
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    listener(listener&& other) noexcept;
    listener& operator=(listener&& other) noexcept;
    ~listener();

    /// The name of the channel; valid as long as the listener.
    [[nodiscard]] std::string_view channel() const noexcept;

    /// The next notification; waits for it without limit.
    ///
    /// Throws: `lagged` when some were removed before they were read. The next call goes on with
    /// what is still there. It is told once: `next() || timer` drops what is thrown in it while the
    /// timer ends well, so prefer `next_within` where that matters.
    /// Cancellation: ends with `asio::error::operation_aborted` and loses nothing, at whatever
    /// moment it comes.
    [[nodiscard]] asio::awaitable<notification> next();

    /// Waits for at most `limit`.
    ///
    /// `limit`: zero or negative means now or nothing, the longest duration means no limit.
    /// Returns: nothing when the limit has passed.
    [[nodiscard]] asio::awaitable<std::optional<notification>> next_within(duration limit);

    /// The next notification if it is there now.
    ///
    /// Returns: nothing when there is none.
    [[nodiscard]] asio::awaitable<std::optional<notification>> try_next();

private:
    friend class api::listener_place;

    explicit listener(std::shared_ptr<api::listener_place> place) noexcept;

    std::shared_ptr<api::listener_place> place_;
};

} // namespace skein
