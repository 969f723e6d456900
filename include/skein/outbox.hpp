#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/payload.hpp>
#include <skein/queue.hpp>
#include <skein/stream_event.hpp>
#include <skein/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace SQLite {
class Database;
}

namespace skein {

namespace api {
class outbox_state;
}

/// A SQLite connection of the user's own, as either library names it. It is not owned.
class SKEIN_EXPORT own_connection {
public:
    /// Throws: `errc::invalid_argument` for a null pointer.
    own_connection(sqlite3* handle);            // NOLINT(google-explicit-constructor)
    own_connection(SQLite::Database& database); // NOLINT(google-explicit-constructor)

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

private:
    sqlite3* handle_;
};

/// How an outbox writes.
struct outbox_options {
    /// Which transport its messages are published to, and as whose; see `transport_options`.
    std::string_view prefix = "harel";
    bool fair_turns = false;

    /// Whether to create or upgrade the tables at the first use. False leaves the schema to
    /// somebody else (see <skein/schema.hpp>): the first use fails when the tables are not there.
    bool create_schema = true;

    /// The time that is written; the machine's by default.
    std::shared_ptr<skein::clock> clock = {};
};

/// Writes jobs, messages, notifications and events on a SQLite connection of the user's own: in the
/// transaction that is open there, with the user's rows or not at all.
///
///     SQLite::Database shop("app.db", SQLite::OPEN_READWRITE);
///     skein::outbox outbox(shop);
///     …
///     SQLite::Transaction both(shop, SQLite::TransactionBehavior::IMMEDIATE);
///     insert_order.exec();
///     outbox.enqueue("emails", R"({"order":7})");
///     both.commit();
///
/// What is written is there if and when that transaction commits; who waits for it, in this process
/// or in another, is woken by the commit. Where no transaction is open, each call is one. Inside of
/// one it is undone alone when it fails, with a savepoint; the transaction goes on.
///
/// It needs no `skein::database`. It does what the verbs of `queue`, `transport`, `database` and
/// `stream` do that have the same names, synchronously, with the same checks of the same arguments.
///
/// - The first use makes tables that are missing, and upgrades older ones, inside that transaction:
///   they vanish with it, and the next use makes them again.
/// - Begin transactions with `BEGIN IMMEDIATE`: where the write lock is taken later, by the first
///   write, SQLite refuses it at once when another has committed since the first read.
/// - The connection's busy timeout says how long a call waits for the lock, and blocks meanwhile.
/// - The connection's `last_insert_rowid()` stays what it was.
///
/// It keeps prepared statements: it is declared after its connection, and ends before that is
/// closed. Used by one thread at a time, as the connection is. Move-only; a moved-from one may only
/// be assigned to or destroyed.
///
/// All verbs throw `skein::error`, naming the file; nothing was written then:
/// - `errc::invalid_argument`, `errc::invalid_payload`, `errc::payload_too_large`: see the verbs;
/// - `errc::busy`: another connection held the lock for longer than the busy timeout;
/// - `errc::disk_full`, `errc::storage_failure`: SQLite refused. It may have ended the user's
///   transaction, as with any statement: a full disk does that;
/// - `errc::schema_too_new`: a newer skein has extended the file.
class SKEIN_EXPORT outbox {
public:
    /// Throws: `errc::invalid_argument` for a prefix that is not accepted.
    explicit outbox(own_connection connection, const outbox_options& options = {});
    outbox(outbox&& other) noexcept;
    outbox& operator=(outbox&& other) noexcept;
    outbox(const outbox&) = delete;
    outbox& operator=(const outbox&) = delete;
    ~outbox();

    /// See `queue::enqueue`. Without `enqueue_options::max_attempts` it is tried as often as
    /// `queue_options` says by default.
    enqueued_job enqueue(std::string_view queue, std::string_view payload,
                         enqueue_options options = {});
    template <class Value>
        requires encodable<Value>
    enqueued_job enqueue(std::string_view queue, const Value& value, enqueue_options options = {})
    {
        const std::string text = payload_codec<Value>::encode(value);
        return enqueue(queue, std::string_view(text), options);
    }

    /// See `queue::enqueue_many`.
    std::vector<enqueued_job> enqueue_many(std::string_view queue, std::span<const new_job> jobs);

    /// See `transport::publish`.
    void publish(std::string_view group, std::string_view payload, publish_options options = {});
    template <class Value>
        requires encodable<Value>
    void publish(std::string_view group, const Value& value, publish_options options = {})
    {
        const std::string text = payload_codec<Value>::encode(value);
        publish(group, std::string_view(text), options);
    }

    /// See `transport::publish_many`.
    void publish_many(std::span<const publication> publications);

    /// See `database::notify`.
    std::int64_t notify(std::string_view channel, std::string_view payload);
    template <class Value>
        requires encodable<Value>
    std::int64_t notify(std::string_view channel, const Value& value)
    {
        const std::string text = payload_codec<Value>::encode(value);
        return notify(channel, std::string_view(text));
    }

    /// See `stream::publish`.
    std::int64_t publish_event(std::string_view topic, std::string_view payload);
    std::int64_t publish_event(std::string_view topic, std::optional<std::string_view> key,
                               std::string_view payload);
    template <class Value>
        requires encodable<Value>
    std::int64_t publish_event(std::string_view topic, const Value& value)
    {
        const std::string text = payload_codec<Value>::encode(value);
        return publish_event(topic, std::string_view(text));
    }
    template <class Value>
        requires encodable<Value>
    std::int64_t publish_event(std::string_view topic, std::optional<std::string_view> key,
                               const Value& value)
    {
        const std::string text = payload_codec<Value>::encode(value);
        return publish_event(topic, key, std::string_view(text));
    }

    /// See `stream::publish_many`.
    std::vector<std::int64_t> publish_events(std::string_view topic,
                                             std::span<const new_event> events);

private:
    std::unique_ptr<api::outbox_state> state_;
};

// The same for a single call, with the defaults of `outbox_options`: nothing is kept, so that the
// tables are looked for, and the statements prepared, each time.

inline enqueued_job enqueue(own_connection connection, std::string_view queue,
                            std::string_view payload, enqueue_options options = {})
{
    return outbox(connection).enqueue(queue, payload, options);
}

template <class Value>
    requires encodable<Value>
enqueued_job enqueue(own_connection connection, std::string_view queue, const Value& value,
                     enqueue_options options = {})
{
    return outbox(connection).enqueue(queue, value, options);
}

inline std::vector<enqueued_job> enqueue_many(own_connection connection, std::string_view queue,
                                              std::span<const new_job> jobs)
{
    return outbox(connection).enqueue_many(queue, jobs);
}

inline void publish(own_connection connection, std::string_view group, std::string_view payload,
                    publish_options options = {})
{
    outbox(connection).publish(group, payload, options);
}

template <class Value>
    requires encodable<Value>
void publish(own_connection connection, std::string_view group, const Value& value,
             publish_options options = {})
{
    outbox(connection).publish(group, value, options);
}

inline void publish_many(own_connection connection, std::span<const publication> publications)
{
    outbox(connection).publish_many(publications);
}

inline std::int64_t notify(own_connection connection, std::string_view channel,
                           std::string_view payload)
{
    return outbox(connection).notify(channel, payload);
}

template <class Value>
    requires encodable<Value>
std::int64_t notify(own_connection connection, std::string_view channel, const Value& value)
{
    return outbox(connection).notify(channel, value);
}

inline std::int64_t publish_event(own_connection connection, std::string_view topic,
                                  std::string_view payload)
{
    return outbox(connection).publish_event(topic, payload);
}

inline std::int64_t publish_event(own_connection connection, std::string_view topic,
                                  std::optional<std::string_view> key, std::string_view payload)
{
    return outbox(connection).publish_event(topic, key, payload);
}

template <class Value>
    requires encodable<Value>
std::int64_t publish_event(own_connection connection, std::string_view topic, const Value& value)
{
    return outbox(connection).publish_event(topic, value);
}

template <class Value>
    requires encodable<Value>
std::int64_t publish_event(own_connection connection, std::string_view topic,
                           std::optional<std::string_view> key, const Value& value)
{
    return outbox(connection).publish_event(topic, key, value);
}

inline std::vector<std::int64_t> publish_events(own_connection connection, std::string_view topic,
                                                std::span<const new_event> events)
{
    return outbox(connection).publish_events(topic, events);
}

} // namespace skein
