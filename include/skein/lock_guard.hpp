#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/result_slot.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace skein {

namespace api {
class held_lock;
}

/// A named lock that is held. It is renewed in the background, after each third of its time, and
/// released when the guard is destroyed.
///
/// A holder can lose its lock: when its process, or its database's thread, is stopped for too long;
/// when the file cannot be written; when the wall clock leaps. It counts as lost from the moment on
/// when another could take it, by the wall clock or by the steady one, whether another has taken it
/// or not, and stays so. What then runs on must not believe that it is alone:
/// - `run` cancels work that runs under the lock;
/// - `renew(tx)` tells inside a transaction, exactly, whether the lock is still this guard's;
/// - `fence()` is a number that a resource outside of the file can compare.
///
/// Move-only. An empty or moved-from guard may only be assigned to or destroyed, and asked
/// `is_held()`. Safe from any thread.
class SKEIN_EXPORT lock_guard {
public:
    /// An empty one, which holds nothing.
    lock_guard() noexcept;
    lock_guard(lock_guard&& other) noexcept;
    lock_guard& operator=(lock_guard&& other) noexcept;
    lock_guard(const lock_guard&) = delete;
    lock_guard& operator=(const lock_guard&) = delete;

    /// Releases the lock, in the background and without an error; if even that fails, the lock ends
    /// at its time.
    ~lock_guard();

    /// The name of the lock; valid as long as the guard.
    [[nodiscard]] std::string_view name() const noexcept;

    /// A number that is higher for each next holder of the lock, whichever program has taken it.
    /// Passed along with what is done under the lock, it lets a resource refuse those who held it
    /// earlier. Nothing where the tables lack what skein adds to them.
    [[nodiscard]] std::optional<std::int64_t> fence() const noexcept;

    /// When the lock ends unless it is renewed, by the wall clock.
    [[nodiscard]] clock::wall_time expires_at() const noexcept;

    /// Whether the lock is still held, as far as this process knows. Asks the clocks, not the file.
    [[nodiscard]] bool is_held() const noexcept;

    /// Renews the lock now: it ends `lock_options::ttl` from now. Not needed while all goes well.
    ///
    /// Returns: false when the lock was lost, or is released.
    /// Cancellation: as everywhere, until its batch begins.
    [[nodiscard]] asio::awaitable<bool> renew();

    /// Renews it when the transaction commits, and tells whether it is this guard's: nobody can
    /// take it before the end of the transaction. Throw on false, and nothing is written by who has
    /// lost the lock.
    ///
    /// Throws: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] bool renew(transaction& tx);

    /// Gives the lock up, for who waits for it.
    ///
    /// Returns: false when it was lost before, or is released already. Nobody else's lock is
    /// released.
    /// Errors, cancellation: the guard holds the lock as before.
    [[nodiscard]] asio::awaitable<bool> release();

    /// Gives it up when the transaction commits.
    ///
    /// Throws: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] bool release(transaction& tx);

    /// Runs `work` under the lock, and cancels it (terminally) when the lock is lost.
    ///
    ///     skein::lock_guard guard = co_await db.lock("reindex").acquire();
    ///     co_await guard.run(reindex());
    ///
    /// `work` runs on a strand over the caller's executor.
    /// Returns: what `work` returns, if the lock was held all the time.
    /// Throws: what `work` throws; `errc::lock_lost` when the lock was lost, or released, before
    /// `work` has ended, be it because of the cancellation or by itself; `errc::closed` and the
    /// other final errors of `database` when nobody can tell any more, and `work` was cancelled.
    /// Cancellation: cancels `work`, and ends when that has ended.
    template <class Result>
    [[nodiscard]] asio::awaitable<Result> run(asio::awaitable<Result> work)
    {
        if constexpr (std::is_void_v<Result>) {
            return run_work(std::move(work));
        } else {
            auto slot = std::make_shared<std::optional<Result>>();
            return api::take_result(run_work(api::keep_result(std::move(work), slot)), slot);
        }
    }

private:
    friend class api::held_lock;

    explicit lock_guard(std::shared_ptr<api::held_lock> held) noexcept;

    void drop() noexcept;
    [[nodiscard]] asio::awaitable<void> run_work(asio::awaitable<void> work);

    std::shared_ptr<api::held_lock> held_;
};

} // namespace skein
