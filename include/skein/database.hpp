#pragma once

#include <skein/await_argument.hpp>
#include <skein/database_options.hpp>
#include <skein/export.hpp>
#include <skein/job_info.hpp>
#include <skein/listener.hpp>
#include <skein/named_lock.hpp>
#include <skein/notification.hpp>
#include <skein/payload.hpp>
#include <skein/queue.hpp>
#include <skein/rate_limit.hpp>
#include <skein/result_slot.hpp>
#include <skein/results.hpp>
#include <skein/scheduler.hpp>
#include <skein/stream.hpp>
#include <skein/transaction.hpp>
#include <skein/transport.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace SQLite {
class Database;
}

namespace skein {

namespace api {
class database_owner;
}

/// A SQLite file with queues in it, and the strand that serves them.
///
/// Everything that is done with one database goes through one connection, on one strand, in the
/// order of arrival; what waits there together is committed together. Other processes, and other
/// programs that know the tables, may use the file at the same time.
///
/// A handle: cheap to copy, safe from any thread and executor. The database is closed by `close()`,
/// or when the last copy of the handle is gone; a thread of its own is then drained and joined. The
/// transports and messages made from it do not keep it open. Their operations end with
/// `errc::closed` from then on.
///
/// It belongs to the process that has opened it. After a fork, everything in the child is refused
/// with `errc::forked`, making a transport and closing included; dropping handles there does
/// nothing: what they hold stays leased, open and running for the parent. Before it calls exec, a
/// child may open databases of its own only if no other thread was inside SQLite at the fork, whose
/// mutexes do not survive one; and never the file that its parent had open: it inherits what SQLite
/// remembers of the locks, and none of the locks. Do not fork inside a callback.
///
/// All operations of all handles throw `skein::error` when they are awaited:
/// - `errc::closed`: the database was closed, or its executor is gone;
/// - `errc::busy`: another connection held the lock longer than `busy_timeout`; nothing was done.
/// It
///   may be one of this process, with a transaction in which the operation is awaited: such a
///   transaction is written in by the verbs of <skein/outbox.hpp>;
/// - `errc::disk_full`, `errc::storage_failure`: SQLite refused; nothing was done. A failure of the
///   commit fails every operation of its batch;
/// - `errc::schema_too_new`: a newer skein has extended the file;
/// - `errc::file_replaced`: the file or its write-ahead log (`-wal`) was moved, replaced or deleted
///   by other means than SQLite's. This is final, and what waits ends with it within a second; what
///   was committed before is in the old file. Close, and open what is there now;
/// - `errc::forked`: the database was opened before a fork, and this is the child.
/// `asio::error::operation_aborted` is only ever the answer to the caller's own cancellation.
class SKEIN_EXPORT database {
public:
    /// Opens the file, or creates it, and serves it on a thread of its own: what most services
    /// want, since SQLite blocks its thread for as long as the disk takes.
    ///
    /// `path` is made absolute at once. `:memory:` is no file: nobody else sees that database, and
    /// it is gone with this one. For tests see <skein/testing/memory_database.hpp>, too.
    /// Blocks for up to `busy_timeout` while another process creates, recovers or locks the file.
    /// Throws: `skein::error` as above, and `errc::storage_failure` when the file cannot be opened.
    explicit database(const std::filesystem::path& path, database_options options = {});

    /// The same on a strand over the caller's executor: no thread of its own, no other cost. The
    /// executor's thread is blocked while SQLite reads and writes, never while it waits for a lock.
    ///
    /// The executor's context may end before the database, or after it.
    database(asio::any_io_executor executor, const std::filesystem::path& path,
             database_options options = {});

    /// Ordered message groups. Costs nothing; the tables are made by the first operation.
    ///
    /// Throws: `errc::invalid_argument` for a prefix or a visibility that is not accepted.
    [[nodiscard]] skein::transport transport(const transport_options& options = {}) const;

    /// A queue of jobs. Costs nothing; the tables are made by the first operation that writes.
    ///
    /// `name`: any text. Jobs carry the name; a queue needs no making.
    /// Throws: `errc::invalid_argument` for options that are not accepted.
    [[nodiscard]] skein::queue queue(std::string_view name,
                                     const queue_options& options = {}) const;

    /// What jobs have come to, of all queues of the file. Costs nothing; the tables are made by the
    /// first operation that writes.
    [[nodiscard]] skein::results results(const results_options& options = {}) const;

    /// A lock with a name. Costs nothing; the tables are made when it is first taken.
    ///
    /// `name`: any text.
    /// Throws: `errc::invalid_argument` for options that are not accepted.
    [[nodiscard]] named_lock lock(std::string_view name, const lock_options& options = {}) const;

    /// A topic of durable events. Costs nothing; the tables are made by the first operation that
    /// writes.
    ///
    /// `topic`: any text. Events carry it; a topic needs no making.
    [[nodiscard]] skein::stream stream(std::string_view topic,
                                       const stream_options& options = {}) const;

    /// How often something may be done. Costs nothing; the tables are made by the first operation.
    ///
    /// `name`: any text. A limit needs no making.
    /// Throws: `errc::invalid_argument` for options that are not accepted.
    [[nodiscard]] skein::rate_limit rate_limit(std::string_view name,
                                               const rate_limit_options& options) const;

    /// The schedules of the file. Costs nothing; the tables are made by the first operation that
    /// writes.
    [[nodiscard]] skein::scheduler scheduler(const scheduler_options& options = {}) const;

    /// Forgets what the rate limits of the file do not need any more: windows that began longer ago
    /// than `older_than`, and paced limits that have all of their burst.
    ///
    /// `older_than`: zero or more, and longer than any window that is used: one that goes on is
    /// forgotten, too, when it began that long ago, and its permits can be taken once more.
    /// Works in slices, each at most 500 rows and a commit of its own, so that nobody waits for
    /// long. Returns how many it has forgotten.
    /// Throws: `errc::invalid_argument` from the call itself for a negative age.
    /// Cancellation, errors: between two slices, too; what the slices before have forgotten stays
    /// forgotten, and how many those were is not told.
    [[nodiscard]] asio::awaitable<std::size_t>
    sweep_rate_limits(std::chrono::seconds older_than, rate_limit_sweep_options options = {}) const;

    /// The job of this number, live or dead, in whatever queue it is.
    ///
    /// Returns: nothing when there is no such job (any more).
    [[nodiscard]] asio::awaitable<std::optional<job_info>> find_job(std::int64_t id) const;

    /// Takes the job of this number back, in whatever queue it is; see `queue::cancel`.
    ///
    /// Returns: false when there is no such live job (any more). Nothing has changed then.
    [[nodiscard]] asio::awaitable<bool> cancel_job(std::int64_t id) const;
    /// Throws also: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] bool cancel_job(skein::transaction& tx, std::int64_t id) const;

    /// Every queue that has jobs or dead letters, and how much there is in it, ordered by the bytes
    /// of the names. One that has only jobs in states that another program invented is not told.
    ///
    /// Cost: that of `queue::counts` for each; to find the queues costs the same however many jobs
    /// are in them.
    [[nodiscard]] asio::awaitable<std::vector<named_queue_counts>> queues() const;

    /// Tells all who listen to a channel, in whatever process. It stays in the file until it is
    /// pruned: it is not consumed, and one that nobody listens to is kept as well.
    ///
    /// `channel`: any text. A channel needs no making.
    /// `payload`: JSON text of any kind, as for `queue::enqueue`.
    /// Returns: its number, when it is committed.
    /// Throws: `errc::invalid_payload` and `errc::payload_too_large` from the call itself.
    [[nodiscard]] asio::awaitable<std::int64_t> notify(std::string_view channel,
                                                       std::string_view payload,
                                                       notification_options options = {}) const;

    /// The same with a value, encoded by `payload_codec` (see <skein/json.hpp>).
    ///
    /// Throws also: what the codec throws; nothing is told then.
    template <class Value>
        requires encodable<std::remove_cvref_t<Value>>
    [[nodiscard]] asio::awaitable<std::int64_t> notify(std::string_view channel, Value&& value,
                                                       notification_options options = {}) const
    {
        static_assert(is_safe_await_argument<Value>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the value first: "
                      "const T value{...}; co_await db.notify(channel, value);");
        const std::string text = payload_codec<std::remove_cvref_t<Value>>::encode(value);
        return notify(channel, std::string_view(text), options);
    }

    /// Tells them if and when a transaction commits.
    ///
    /// Throw also: `errc::invalid_argument` for a transaction of another database.
    std::int64_t notify(skein::transaction& tx, std::string_view channel, std::string_view payload,
                        notification_options options = {}) const;
    template <class Value>
        requires encodable<Value>
    std::int64_t notify(skein::transaction& tx, std::string_view channel, const Value& value,
                        notification_options options = {}) const
    {
        const std::string text = payload_codec<Value>::encode(value);
        return notify(tx, channel, std::string_view(text), options);
    }

    /// Takes a place in a channel: the listener gets what is committed from now on.
    ///
    /// Only reads, unless the tables, or what skein adds to them, are not there yet.
    [[nodiscard]] asio::awaitable<listener> listen(std::string_view channel,
                                                   notification_options options = {}) const;

    /// Removes notifications that are too old, and those that are too many. Listeners that have not
    /// read them yet are told so, see `lagged`.
    ///
    /// Works in slices, each at most 500 notifications and a commit of its own, so that nobody
    /// waits for long. Returns how many it has removed.
    /// Throws: `errc::invalid_argument` from the call itself for a negative age, and when neither
    /// is given.
    /// Cancellation, errors: between two slices, too; what the slices before have removed stays
    /// removed, and how many those were is not told.
    [[nodiscard]] asio::awaitable<std::size_t>
    prune_notifications(notification_retention retention, notification_options options = {}) const;

    /// Runs `function(tx)` inside a write transaction; what it does is committed before this
    /// returns. A throw undoes all of it, and comes out of the `co_await`.
    ///
    ///     auto place = [&](skein::transaction& tx) {
    ///         SQLite::Statement insert(tx.database(), "INSERT INTO orders (id) VALUES (7)");
    ///         insert.exec();
    ///         shipments.publish(tx, "customer-3", R"({"order":7})");
    ///     };
    ///     co_await db.transaction(place);
    ///
    /// `function` is copied. It runs on the database's strand, so it must not block. It may not end
    /// the transaction. It may refer to what the awaiting coroutine owns: a context that ends
    /// meanwhile waits for it before it destroys the coroutine.
    ///
    /// What is awaited of this database would wait for the end of `function`: a verb that is to be
    /// awaited throws `errc::invalid_argument` at once when it is called there, on that thread, and
    /// names the form that takes the transaction first, if it has one. Only `close` may be started
    /// there, and not waited for.
    /// Returns: what `function` returns.
    /// Cancellation: as everywhere, until its batch begins. `function` has not been called then.
    template <class Function>
    [[nodiscard]] auto transaction(Function&& function) const
    {
        static_assert(is_safe_await_argument<Function>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the callback "
                      "first: auto work = [...](auto& tx) {...}; co_await db.transaction(work);");
        return run<skein::transaction&>(&database::run_transaction,
                                        std::forward<Function>(function));
    }

    /// Runs `function(const SQLite::Database&)` on one consistent state of the file, without taking
    /// the write lock. It cannot write.
    ///
    /// Otherwise like `transaction`; nothing of this database can be called in it. Other operations
    /// wait meanwhile: keep it short.
    template <class Function>
    [[nodiscard]] auto read(Function&& function) const
    {
        static_assert(is_safe_await_argument<Function>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the callback "
                      "first: auto look = [...](auto& file) {...}; co_await db.read(look);");
        return run<const SQLite::Database&>(&database::run_read, std::forward<Function>(function));
    }

    /// Closes the database for all its handles. Operations that wait end with `errc::closed`; a
    /// batch that has begun is finished. Idempotent.
    ///
    /// Returns when the file is closed.
    /// Cancellation: none.
    [[nodiscard]] asio::awaitable<void> close() const;

    /// The file, as an absolute path.
    [[nodiscard]] const std::filesystem::path& path() const noexcept;

private:
    [[nodiscard]] asio::awaitable<void>
    run_transaction(std::function<void(skein::transaction&)> work) const;
    [[nodiscard]] asio::awaitable<void>
    run_read(std::function<void(const SQLite::Database&)> work) const;

    template <class Argument, class Runner, class Function>
    auto run(Runner runner, Function&& function) const
    {
        using result = std::invoke_result_t<std::decay_t<Function>&, Argument>;
        static_assert(!std::is_reference_v<result>, "a callback returns a value or nothing");
        if constexpr (std::is_void_v<result>) {
            return (this->*runner)(std::forward<Function>(function));
        } else {
            auto slot = std::make_shared<std::optional<result>>();
            auto work = [slot, copy = std::decay_t<Function>(std::forward<Function>(function))](
                            Argument argument) mutable { slot->emplace(copy(argument)); };
            return api::take_result((this->*runner)(std::move(work)), std::move(slot));
        }
    }

    std::shared_ptr<api::database_owner> owner_;
};

} // namespace skein
