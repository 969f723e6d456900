#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/lock_guard.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skein {

namespace api {
struct named_lock_state;
}

/// How a lock is taken.
struct lock_options {
    /// How long the lock is held without being renewed: how long the others wait when its holder
    /// dies. More than zero. The file counts whole seconds: it may be up to one second longer.
    std::chrono::seconds ttl = std::chrono::seconds{30};

    /// Who holds it, for those who look into the file. Empty: an id of the database object. Each
    /// guard is an owner of its own, whatever this says: a random token goes behind it.
    std::string_view owner = {};

    /// Whether to create the tables at the first use. False leaves the schema to somebody else (see
    /// <skein/schema.hpp>): the first use fails when the tables are not there.
    bool create_schema = true;
};

/// Who has a lock.
struct lock_holder {
    std::string owner; ///< of a guard: `lock_options::owner`, `#`, and a token
    clock::wall_time expires_at;
    std::optional<std::int64_t> fence; ///< see `lock_guard::fence`
};

/// A lock with a name, which one holder at a time has, among all programs that use the file.
///
///     const skein::named_lock lock = db.lock("reindex", {.ttl = 10s});
///     skein::lock_guard guard = co_await lock.acquire();
///
/// It is for work that one process should do at a time. It is a lease, not a mutex: a holder that
/// is stopped for too long loses it, see `lock_guard`.
///
/// A lock needs no making, and only held ones take room in the file. Those who wait here get it in
/// the order of arrival; between processes it is who comes first.
///
/// A handle: cheap to copy, safe from any thread and executor, alive as long as anybody holds it.
/// Made by `database::lock`; a moved-from one may only be assigned to or destroyed.
///
/// All operations own their arguments, throw, resume and can be cancelled as those of `queue`. A
/// lock that was taken for somebody who is gone is released.
class SKEIN_EXPORT named_lock {
public:
    /// Its name; valid as long as any handle of this lock.
    [[nodiscard]] std::string_view name() const noexcept;

    /// Waits without limit until the lock is free, and takes it.
    [[nodiscard]] asio::awaitable<lock_guard> acquire() const;

    /// Waits for at most `limit`.
    ///
    /// `limit`: zero or negative means now or nothing, the longest duration means no limit.
    /// Returns: nothing when the limit has passed.
    [[nodiscard]] asio::awaitable<std::optional<lock_guard>> acquire_within(duration limit) const;

    /// Takes the lock if it is free now.
    ///
    /// Returns: nothing when somebody has it.
    [[nodiscard]] asio::awaitable<std::optional<lock_guard>> try_acquire() const;

    /// Takes the lock if it is free and the transaction commits. Until then the guard does not say
    /// that it holds it.
    ///
    /// Returns: nothing when somebody has it.
    /// Throws: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] std::optional<lock_guard> try_acquire(transaction& tx) const;

    /// Who has the lock. Only reads; makes no tables.
    ///
    /// Returns: nothing when nobody has; a holder whose time is over has it no more.
    [[nodiscard]] asio::awaitable<std::optional<lock_holder>> holder() const;

    /// Two handles are equal when they are of the same name and database object, however the lock
    /// is taken.
    [[nodiscard]] bool operator==(const named_lock& other) const noexcept;

private:
    friend class database;

    explicit named_lock(std::shared_ptr<const api::named_lock_state> state) noexcept;

    std::shared_ptr<const api::named_lock_state> state_;
};

} // namespace skein
