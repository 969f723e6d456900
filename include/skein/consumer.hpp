#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/stream_event.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace skein {

namespace api {
class consumer_place;
}

/// Where a consumer starts to read.
enum class consumer_start {
    saved_or_first, ///< behind its saved offset; a new one at the first event that is there
    saved_or_end,   ///< behind its saved offset; a new one behind all events
    first,          ///< at the first event that is there
    end,            ///< behind all events that are there
};

/// Who saves how far a consumer has come.
enum class consumer_saving {
    /// The user does, with `save`: in the transaction that holds the effect of the event, if that
    /// is in the same file; then each event takes effect exactly once.
    explicitly,
    /// The consumer does, in a commit of its own, before it goes to the file for more: then
    /// everything that it has handed out counts as done with.
    automatically,
};

/// How a consumer reads.
struct consumer_options {
    /// Where it starts. A saved offset that is there stays what it is, wherever that is.
    consumer_start start = consumer_start::saved_or_first;

    /// Starts behind this offset instead: any number, there need be no such event. Given together
    /// with another `start` than the default it is not accepted.
    std::optional<std::int64_t> behind = {};

    consumer_saving saving = consumer_saving::explicitly;
};

/// One who reads a topic under a name, event by event in the order of their commits, and whose
/// progress outlives the program: its offset is saved in the file under the name and the topic.
///
///     skein::consumer billing = co_await orders.consumer("billing");
///     while (true) {
///         const skein::stream_event event = co_await billing.next();
///         auto book = [&](skein::transaction& tx) {
///             SQLite::Statement insert(tx.database(), "INSERT INTO bills VALUES (?)");
///             insert.bind(1, event.payload);
///             insert.exec();
///             billing.save(tx, event.offset);
///         };
///         co_await db.transaction(book);
///     }
///
/// What is behind the saved offset is handed out again after the consumer was dropped, or its
/// process died: at least once. The saved offset never goes down; `stream::forget_consumer` removes
/// it.
///
/// A name is for one consumer at a time. Of several at once, in whatever processes, each gets every
/// event, and the highest offset that one of them saves counts for the name: what a slower one had
/// not done with is not handed out again after its end.
///
/// Nothing removes events by itself. When `stream::trim`, or another program, has removed some that
/// it would have read, its next call throws `lagged`, once, and the call after that goes on with
/// what is still there. So does the first call of one that starts behind an offset, saved or given,
/// behind which events were removed. One that is new and starts at the first event is not told of
/// those that were removed before it came.
///
/// Waiting costs no query. When something has come, those who wait at the same place of a topic
/// read it together, with one query.
///
/// Move-only; a moved-from one may only be assigned to or destroyed. Thread-safe, but of `next` and
/// its kin one call at a time is accepted: a second one throws `errc::invalid_argument` when it is
/// awaited. A call goes on when the consumer is dropped meanwhile.
class SKEIN_EXPORT consumer {
public:
    consumer(const consumer&) = delete;
    consumer& operator=(const consumer&) = delete;
    consumer(consumer&& other) noexcept;
    consumer& operator=(consumer&& other) noexcept;
    ~consumer();

    /// The topic, and its own name; valid as long as the consumer.
    [[nodiscard]] std::string_view topic() const noexcept;
    [[nodiscard]] std::string_view name() const noexcept;

    /// The offset of the last event that it has handed out; that which it has started behind while
    /// there is none.
    [[nodiscard]] std::int64_t offset() const noexcept;

    /// The next event; waits for it without limit.
    ///
    /// It reads up to 100 events at once and hands out the rest from memory. With automatic saving,
    /// the offset of the last event that was handed out is saved, and committed, each time before
    /// it reads: a crash repeats what was handed out since.
    /// Throws: `lagged` when events were removed before they were read. With automatic saving also
    /// what keeps the offset from being saved, such as `errc::busy`; the next call tries it again.
    /// Cancellation: ends with `asio::error::operation_aborted` and loses nothing, at whatever
    /// moment it comes: what was not handed out comes next, and is not saved.
    [[nodiscard]] asio::awaitable<stream_event> next();

    /// The next event if it is there now.
    ///
    /// Returns: nothing when there is none. With automatic saving, what was handed out before is
    /// saved then, too.
    [[nodiscard]] asio::awaitable<std::optional<stream_event>> try_next();

    /// Waits for at most `limit`.
    ///
    /// `limit`: zero or negative means now or nothing, the longest duration means no limit. With
    /// automatic saving it is counted from when what was handed out before is saved.
    /// Returns: nothing when the limit has passed.
    [[nodiscard]] asio::awaitable<std::optional<stream_event>> next_within(duration limit);

    /// The next events: waits until there is one, and returns what is there. The same with a limit,
    /// and without waiting.
    ///
    /// `most`: 1 to 1000. Where more are there, fewer than that may come all the same: the rest of
    /// what was read before comes alone, and what is read at once ends with the event that makes
    /// its payloads a mebibyte long.
    /// Returns: at least one, in their order; none when the limit has passed.
    /// Throws also: `errc::invalid_argument` from the call itself for another `most`.
    [[nodiscard]] asio::awaitable<std::vector<stream_event>> next_many(std::size_t most);
    [[nodiscard]] asio::awaitable<std::vector<stream_event>> try_next_many(std::size_t most);
    [[nodiscard]] asio::awaitable<std::vector<stream_event>> next_many_within(duration limit,
                                                                              std::size_t most);

    /// Saves how far this consumer has come: whoever resumes under its name starts behind it, and
    /// trimming what all have passed need not wait for what is before it. At any time, also while
    /// a call waits.
    ///
    /// `offset`: any number, as a rule that of an event whose effect is committed. It may be higher
    /// than what was handed out; what lies between is then skipped by whoever resumes, while this
    /// consumer goes on where it is. Absent: the last that was handed out before this call.
    /// Returns: whether the saved offset has moved. It has not when it was as high before, by
    /// whatever process, nor when nothing was handed out and none was given.
    [[nodiscard]] asio::awaitable<bool> save(std::int64_t offset);
    [[nodiscard]] asio::awaitable<bool> save();

    /// Saves it inside a transaction: with the effect of the events, or not at all.
    ///
    /// Throw also: `errc::invalid_argument` for a transaction of another database.
    bool save(transaction& tx, std::int64_t offset);
    bool save(transaction& tx);

private:
    friend class api::consumer_place;

    explicit consumer(std::shared_ptr<api::consumer_place> place) noexcept;

    std::shared_ptr<api::consumer_place> place_;
};

} // namespace skein
