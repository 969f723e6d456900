#pragma once

#include <skein/await_argument.hpp>
#include <skein/consumer.hpp>
#include <skein/export.hpp>
#include <skein/payload.hpp>
#include <skein/relay.hpp>
#include <skein/stream_event.hpp>
#include <skein/transaction.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace skein {

namespace api {
struct stream_state;
}

/// How a stream is kept.
struct stream_options {
    /// Whether to create the tables at the first use that writes. False leaves the schema to
    /// somebody else (see <skein/schema.hpp>): the first use fails when the tables are not there.
    /// On tables without what skein adds to them a consumer is not told that it has lagged.
    bool create_schema = true;
};

/// Which events `stream::trim` removes: those that any of these is enough for. At least one is
/// given.
struct stream_retention {
    /// Those that were published longer ago than this: zero or more. Only from the front: the first
    /// one that is younger keeps all behind it, whatever their age, which matters when the clock
    /// was set back. Absent: none for its age.
    std::optional<std::chrono::seconds> older_than = {};

    /// All but the last so many of the topic; zero means all. Absent: none for their number.
    std::optional<std::size_t> keep = {};

    /// Those that every consumer of the topic has passed, by the saved offsets. None while there is
    /// no consumer, since one may still come.
    bool passed_by_all = false;
};

/// How far a consumer has come, as `stream::consumers` tells it.
struct stream_consumer {
    std::string name;
    std::int64_t offset = 0; ///< the saved one: it is done with this event, and with all before it

    friend bool operator==(const stream_consumer&, const stream_consumer&) = default;
};

/// One topic of durable events. They are not consumed: each stays in the file, for those who read
/// it now and those who come later, until it is trimmed.
///
/// The offsets of all topics are one sequence: that of a later commit is higher, whatever process
/// makes it, so that whoever reads behind an offset misses nothing and needs to look only forward.
/// No offset is given twice, also when the events are gone.
///
/// A handle: cheap to copy, safe from any thread and executor, alive as long as anybody holds it.
/// Made by `database::stream`; a moved-from one may only be assigned to or destroyed.
///
/// All operations own their arguments, throw, resume and can be cancelled as those of `queue`.
class SKEIN_EXPORT stream {
public:
    /// The name; valid as long as the handle.
    [[nodiscard]] std::string_view topic() const noexcept;

    /// Appends an event, without or with a key.
    ///
    /// `key`: any text that tells what the event is about, or `std::nullopt`. It is handed to those
    /// who read the event; nothing else is done with it.
    /// `payload`: JSON text of any kind, as for `queue::enqueue`.
    /// Returns: its offset, when it is committed (see `database_options::durability`).
    /// Throw: `errc::invalid_payload` and `errc::payload_too_large` from the call itself.
    [[nodiscard]] asio::awaitable<std::int64_t> publish(std::string_view payload) const;
    [[nodiscard]] asio::awaitable<std::int64_t> publish(std::optional<std::string_view> key,
                                                        std::string_view payload) const;

    /// The same with a value, encoded by `payload_codec` (see <skein/json.hpp>).
    ///
    /// Throw also: what the codec throws; nothing is published then.
    template <class Value>
        requires encodable<std::remove_cvref_t<Value>>
    [[nodiscard]] asio::awaitable<std::int64_t> publish(Value&& value) const
    {
        require_safe<Value>();
        const std::string text = payload_codec<std::remove_cvref_t<Value>>::encode(value);
        return publish(std::string_view(text));
    }
    template <class Value>
        requires encodable<std::remove_cvref_t<Value>>
    [[nodiscard]] asio::awaitable<std::int64_t> publish(std::optional<std::string_view> key,
                                                        Value&& value) const
    {
        require_safe<Value>();
        const std::string text = payload_codec<std::remove_cvref_t<Value>>::encode(value);
        return publish(key, std::string_view(text));
    }

    /// Appends an event inside a transaction: it is there if and when that commits.
    ///
    /// Returns: its offset. That of a transaction that is undone is given to another event.
    /// Throw also: `errc::invalid_argument` for a transaction of another database.
    std::int64_t publish(transaction& tx, std::string_view payload) const;
    std::int64_t publish(transaction& tx, std::optional<std::string_view> key,
                         std::string_view payload) const;
    template <class Value>
        requires encodable<Value>
    std::int64_t publish(transaction& tx, const Value& value) const
    {
        const std::string text = payload_codec<Value>::encode(value);
        return publish(tx, std::string_view(text));
    }
    template <class Value>
        requires encodable<Value>
    std::int64_t publish(transaction& tx, std::optional<std::string_view> key,
                         const Value& value) const
    {
        const std::string text = payload_codec<Value>::encode(value);
        return publish(tx, key, std::string_view(text));
    }

    /// Appends events, in this order and in one commit: all of them or none.
    ///
    /// A batch is held together: other operations, and other processes that want to write, wait
    /// until all of it is written.
    /// Returns: their offsets, in the same order.
    [[nodiscard]] asio::awaitable<std::vector<std::int64_t>>
    publish_many(std::span<const new_event> events) const;
    std::vector<std::int64_t> publish_many(transaction& tx,
                                           std::span<const new_event> events) const;

    /// The first events behind an offset, in their order, as they are there now. Only reads; makes
    /// no tables. See `consumer` for reading on.
    ///
    /// `offset`: any number; zero, from the first event on.
    /// `most`: 1 to 1000. Other operations wait while they are read: keep it small where payloads
    /// are large.
    /// Throws: `errc::invalid_argument` from the call itself for another `most`.
    [[nodiscard]] asio::awaitable<std::vector<stream_event>>
    read_since(std::int64_t offset, std::size_t most = 100) const;

    /// The same inside a transaction, what that has published included.
    ///
    /// Throws also: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] std::vector<stream_event> read_since(transaction& tx, std::int64_t offset,
                                                       std::size_t most = 100) const;

    /// The offset of the first event that is there. Only reads; makes no tables.
    ///
    /// Returns: zero when there is none.
    [[nodiscard]] asio::awaitable<std::int64_t> first_offset() const;

    /// The offset of the last event, be it still there or not: `read_since` with it gives what is
    /// published later. Only reads; makes no tables.
    ///
    /// Returns: zero when there was none. On tables without what skein adds to them, the last one
    /// that is there.
    [[nodiscard]] asio::awaitable<std::int64_t> last_offset() const;

    /// Makes a consumer, and enters it into the file with the offset that it starts behind unless
    /// that has a saved offset for it: from then on, trimming what all have passed waits for it.
    ///
    /// `name`: any text. Only reads where there is a saved offset, unless the tables, or what skein
    /// adds to them, are not there yet.
    /// Throws: `errc::invalid_argument` from the call itself when both an offset and a `start` are
    /// given.
    [[nodiscard]] asio::awaitable<skein::consumer> consumer(std::string_view name,
                                                            consumer_options options = {}) const;

    /// Something that hands the events to a sink outside of the file. Costs nothing.
    ///
    /// `name`: any text; that of the consumer whose offset it saves.
    /// Throws: `errc::invalid_argument` for options that are not accepted.
    [[nodiscard]] skein::relay relay(std::string_view name, relay_options options = {}) const;

    /// All consumers that the file knows for this topic, whatever process has made them, the
    /// slowest first. Only reads; makes no tables.
    [[nodiscard]] asio::awaitable<std::vector<stream_consumer>> consumers() const;

    /// Removes what is saved of a consumer: nothing waits for it any more, and it is new when it
    /// comes again. One that goes on reading is entered again with its next save.
    ///
    /// Returns: whether there was one of this name.
    [[nodiscard]] asio::awaitable<bool> forget_consumer(std::string_view name) const;

    /// Removes events from the front of the topic. Consumers that have not read them yet are told
    /// so, see `lagged`.
    ///
    /// Works in slices, each at most 500 events and a commit of its own, so that nobody waits for
    /// long. Returns how many it has removed.
    /// Throws: `errc::invalid_argument` from the call itself for a negative age, and when nothing
    /// is given.
    /// Cancellation, errors: between two slices, too; what the slices before have removed stays
    /// removed, and how many those were is not told.
    [[nodiscard]] asio::awaitable<std::size_t> trim(stream_retention retention) const;

    /// Two handles are equal when they are of one topic of one database object.
    [[nodiscard]] bool operator==(const stream& other) const noexcept;

private:
    friend class database;

    explicit stream(std::shared_ptr<const api::stream_state> state) noexcept;

    template <class Value>
    static constexpr void require_safe() noexcept
    {
        static_assert(is_safe_await_argument<Value>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the value first: "
                      "const T value{...}; co_await stream.publish(value);");
    }

    std::shared_ptr<const api::stream_state> state_;
};

} // namespace skein
