#pragma once

#include <skein/await_argument.hpp>
#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/payload.hpp>
#include <skein/schedule.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace skein {

namespace api {
struct scheduler_state;
}

struct scheduler_options {
    /// Whether to create or upgrade the tables, those of queues included, at the first use. False
    /// leaves the schema to somebody else (see <skein/schema.hpp>): while the tables are not there,
    /// everything fails, but for `run`, which tries again as after any other failure.
    bool create_schema = true;
};

/// Enqueues jobs at set times. Schedules are rows of the file, and all processes that call `run`
/// serve them together: each moment of a schedule gets its job exactly once, since the job and the
/// schedule's next moment are one commit.
///
///     const skein::scheduler scheduler = db.scheduler();
///     co_await scheduler.add("report", "reports", "CRON_TZ=Europe/Berlin 0 3 * * MON-FRI",
///                            R"({"full":true})");
///     co_await scheduler.run(); // until it is cancelled
///
/// **Expressions** are those of cron, in UTC or any other zone:
///
///     minute hour day-of-month month day-of-week        30 9 * * 1-5
///     second minute hour day-of-month month day-of-week 0,30 * * * * *
///     @every <number><s, m, h or d>                     @every 90s
///     @yearly (@annually) @monthly @weekly @daily (@midnight) @hourly
///
/// Each field is a list, separated by commas, of `*`, a number, or a range `first-last`, and behind
/// `*` and ranges a step, `/2`. Months and days of the week may be names of three letters in any
/// case; Sunday is 0 and 7. "@every" counts from the moment before, at first from now, and knows no
/// zone. What is refused, and why, is told with the place in the text. An expression without any
/// moment in the next 100 years is refused, too.
///
/// **Zones.** With `CRON_TZ=<zone> ` in front, such as `CRON_TZ=Europe/Berlin 0 3 * * *`, the zone
/// is one of the system's time zone database. Without it, the expression is read in the zone of the
/// process (TZ, or else the system's) that serves it: set that alike everywhere, or name the zone.
/// When clocks are put forward, a local time that does not exist fires once, at the first moment
/// after the gap; when they are put back, one that exists twice fires in the first pass. But an
/// expression whose hours begin with `*` is an interval: it follows real time, and fires in both
/// passes. A new version of the time zone database is heeded once the process has been restarted.
///
/// **Days.** With a zone, when the day of the month and that of the week are both restricted,
/// either is enough, as in crontab(5); a field that begins with `*` restricts nothing. Without a
/// zone both must fit, as the format has it; since that is rarely what is meant, it must be said
/// with `schedule_options::both_days`.
///
/// A handle: cheap to copy, safe from any thread and executor, alive as long as anybody holds it.
/// Made by `database::scheduler`; a moved-from one may only be assigned to or destroyed.
///
/// All operations but `run`
/// - own their arguments from the call on;
/// - throw `errc::invalid_argument`, `errc::invalid_payload` and `errc::payload_too_large` from the
///   call itself where they can, and else, with the other errors of `database`, when they are
///   awaited;
/// - resume and can be cancelled as those of `queue`.
class SKEIN_EXPORT scheduler {
public:
    /// Adds a schedule. One of this name is replaced, all but whether it is paused: so a program
    /// may add its schedules each time it starts. That puts the next moment to the first one after
    /// now; `update` leaves it.
    ///
    /// `name`, `queue`: any text; the queue gets the jobs.
    /// `payload`: of each job, as for `queue::enqueue`.
    /// Throws: `errc::invalid_argument` also for a zone that the system does not have, and for a
    /// schedule that ends before its first moment.
    [[nodiscard]] asio::awaitable<void> add(std::string_view name, std::string_view queue,
                                            std::string_view expression, std::string_view payload,
                                            schedule_options options = {}) const;

    /// The same with a value, encoded by `payload_codec` (see <skein/json.hpp>).
    ///
    /// Throws also: what the codec throws; nothing is added then.
    template <class Value>
        requires encodable<std::remove_cvref_t<Value>>
    [[nodiscard]] asio::awaitable<void> add(std::string_view name, std::string_view queue,
                                            std::string_view expression, Value&& value,
                                            schedule_options options = {}) const
    {
        static_assert(is_safe_await_argument<Value>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the value first: "
                      "const T value{...}; co_await scheduler.add(name, queue, cron, value);");
        const std::string text = payload_codec<std::remove_cvref_t<Value>>::encode(value);
        return add(name, queue, expression, std::string_view(text), options);
    }

    /// Adds it if and when a transaction commits.
    ///
    /// Throw also: `errc::invalid_argument` for a transaction of another database.
    void add(transaction& tx, std::string_view name, std::string_view queue,
             std::string_view expression, std::string_view payload,
             schedule_options options = {}) const;
    template <class Value>
        requires encodable<Value>
    void add(transaction& tx, std::string_view name, std::string_view queue,
             std::string_view expression, const Value& value, schedule_options options = {}) const
    {
        const std::string text = payload_codec<Value>::encode(value);
        add(tx, name, queue, expression, std::string_view(text), options);
    }

    /// Changes what `change` gives. One that has come to its end, and gets a later one or more
    /// runs, goes on with the first moment after now.
    ///
    /// Returns: false when there is no such schedule, or nothing to change.
    /// Throws: as `add`, and `errc::invalid_argument` for an end before its next moment. Nothing
    /// has changed then.
    [[nodiscard]] asio::awaitable<bool> update(std::string_view name, schedule_change change) const;
    bool update(transaction& tx, std::string_view name, schedule_change change) const;

    /// Removes a schedule. Its jobs stay.
    ///
    /// Returns: false when there is none of this name.
    [[nodiscard]] asio::awaitable<bool> remove(std::string_view name) const;
    bool remove(transaction& tx, std::string_view name) const;

    /// Lets a schedule rest, and go on. The moments in between are missed ones, see
    /// `missed_moments`.
    ///
    /// Return: whether that has changed it.
    [[nodiscard]] asio::awaitable<bool> pause(std::string_view name) const;
    bool pause(transaction& tx, std::string_view name) const;
    [[nodiscard]] asio::awaitable<bool> resume(std::string_view name) const;
    bool resume(transaction& tx, std::string_view name) const;

    /// All schedules, ordered by the bytes of their names, those included that other programs have
    /// added or that have come to their end. Only reads; makes no tables.
    [[nodiscard]] asio::awaitable<std::vector<schedule>> list() const;

    /// Only reads; makes no tables.
    ///
    /// Returns: nothing when there is no such schedule.
    [[nodiscard]] asio::awaitable<std::optional<schedule>> find(std::string_view name) const;

    /// When the next job is to be enqueued. Only reads; makes no tables.
    ///
    /// Returns: nothing when no schedule is to fire any more, or all are paused.
    [[nodiscard]] asio::awaitable<std::optional<clock::wall_time>> soonest() const;

    /// Enqueues the jobs of all schedules as they come due, until it is cancelled. In as many
    /// processes as one likes, which is how a moment is kept when one of them dies: there is no
    /// leader to be elected, and who ticks first has done it.
    ///
    /// It sleeps until the next moment or a change of the schedules, whoever makes it. The moments
    /// of the time in which nobody ran come first, see `missed_moments`. A moment fires as soon as
    /// the wall clock has reached it, within a minute when that is set forward, and once: also when
    /// the clock is set back behind it.
    ///
    /// A failure of the database (locked for too long, disk full, I/O errors) ends nothing: it is
    /// logged as a warning (see `database_options::log`) and tried again after 1 s, then 2 s, up to
    /// 60 s. So is a schedule that cannot be served, because another program has written what is no
    /// expression, or its zone is unknown here; the others are served meanwhile. A stored payload
    /// that is no JSON becomes dead letters of its queue.
    ///
    /// Throws: `errc::closed`, `errc::file_replaced`, `errc::forked` and `errc::schema_too_new`,
    /// which nobody can recover from. It never returns.
    /// Cancellation: at any time; a job is then enqueued or its moment still to come.
    [[nodiscard]] asio::awaitable<void> run() const;

    /// Two handles are equal when they are of one database object.
    [[nodiscard]] bool operator==(const scheduler& other) const noexcept;

private:
    friend class database;

    explicit scheduler(std::shared_ptr<const api::scheduler_state> state) noexcept;

    std::shared_ptr<const api::scheduler_state> state_;
};

} // namespace skein
