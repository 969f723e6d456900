#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace skein {

namespace api {
struct rate_limit_state;
}

/// How a limit counts.
enum class rate_limit_algorithm {
    /// In windows of the length `per`, which lie side by side from the epoch on: in each at most
    /// `permits` are taken. So twice as many may be taken around the end of one. What
    /// `honker_rate_limit_try` does in SQL: limits of one name count together there and here.
    fixed_window,

    /// One permit every `per / permits`, and up to `burst` at once after a while in which nobody
    /// has taken any: in no stretch of time are more taken than have come in it, and a burst. No
    /// other program counts with it.
    paced,
};

/// What a limit allows. There is no default for `permits` and `per`: both are given.
struct rate_limit_options {
    /// How many permits there are in each `per`: more than zero.
    std::int64_t permits = 0;

    /// More than zero.
    std::chrono::seconds per{0};

    rate_limit_algorithm algorithm = rate_limit_algorithm::fixed_window;

    /// How many permits may be saved up: more than zero. Only for `paced`. Absent: one, so that
    /// permits come one at a time.
    std::optional<std::int64_t> burst = {};

    /// Whether to create the tables at the first use. False leaves the schema to somebody else (see
    /// <skein/schema.hpp>): the first use fails when the tables are not there. For `fixed_window`
    /// those of another program are good enough; `paced` needs what skein adds to them.
    bool create_schema = true;
};

/// How `database::sweep_rate_limits` works.
struct rate_limit_sweep_options {
    /// Whether to create the tables at the first use, as in `rate_limit_options`.
    bool create_schema = true;
};

/// How often something may be done, by all processes that use the file together. Each time takes a
/// permit first:
///
///     const skein::rate_limit mails = db.rate_limit("mails", {.permits = 10, .per = 60s});
///     while (true) {
///         const skein::job job = co_await emails.claim();
///         co_await mails.take();
///         …
///     }
///
/// A limit needs no making: it is a name, and each who uses it says what it allows. Who says
/// otherwise about a name gets along with its own: windows of another length count apart, except
/// where two begin together; those of one length, and all that are paced, share one count, which
/// each compares with what it allows. The two algorithms share nothing.
///
/// Who waits for permits of equal handles (see `operator==`) gets them in the order of arrival, as
/// far as one database object goes; other processes, other handles, and transactions take what is
/// free when they ask. Waiting costs no query: when the next permit is free is known. No write lock
/// is taken while there is none. After a commit of another process each limit that is waited for is
/// looked up once.
///
/// Times are those of the wall clock. When it is set back, a limit is not frozen until it has come
/// back to where it was: whoever waits notices within a minute, or at the time it was told of if
/// that is earlier, and asks anew. A fixed window then counts as the window of the earlier time; of
/// a paced limit the next permit is never farther away than with its burst just used up. That the
/// clock was set forward is noticed within a minute.
///
/// A handle: cheap to copy, safe from any thread and executor, alive as long as anybody holds it.
/// Made by `database::rate_limit`; a moved-from one may only be assigned to or destroyed.
///
/// All operations own their arguments, and throw as told at `database`.
class SKEIN_EXPORT rate_limit {
public:
    /// Valid as long as the handle, or a copy of it.
    [[nodiscard]] std::string_view name() const noexcept;

    /// Takes a permit if one is free now that nobody waits for.
    ///
    /// Returns: false when there is none. Nothing was written then.
    /// Cancellation: until its batch begins; nothing is taken then. Later it returns its result.
    [[nodiscard]] asio::awaitable<bool> try_take() const;

    /// Takes a permit inside a transaction, if one is free: it counts if and when that commits. In
    /// front of those who wait.
    ///
    /// Throws also: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] bool try_take(transaction& tx) const;

    /// Takes a permit; waits for it without limit.
    ///
    /// Cancellation: ends with `asio::error::operation_aborted` and has taken nothing; when its
    /// batch has begun, it returns with the permit.
    /// Throws: `errc::closed` when the database is closed before.
    [[nodiscard]] asio::awaitable<void> take() const;

    /// Waits for at most `limit`.
    ///
    /// `limit`: zero or negative means now or nothing, the longest duration means no limit.
    /// Returns: false when the limit has passed. Nothing was taken then.
    /// Throws also: `errc::invalid_argument` from the call itself for a `limit` that is no number.
    [[nodiscard]] asio::awaitable<bool> take_within(duration limit) const;

    /// Two handles are equal when they are of one database object, one name and equal options.
    [[nodiscard]] bool operator==(const rate_limit& other) const noexcept;

private:
    friend class database;

    explicit rate_limit(std::shared_ptr<const api::rate_limit_state> state) noexcept;

    std::shared_ptr<const api::rate_limit_state> state_;
};

} // namespace skein
