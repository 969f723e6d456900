#pragma once

#include <skein/await_argument.hpp>
#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/message.hpp>
#include <skein/payload.hpp>
#include <skein/transaction.hpp>
#include <skein/transport_inspection.hpp>

#include <asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace skein {

namespace api {
struct transport_state;
}

/// Which transport of the file, and how it treats its messages.
struct transport_options {
    /// The transport's tables are `<prefix>_transport_messages` and `<prefix>_transport_groups`;
    /// one file holds as many transports as one likes. A letter or underscore, then up to 29
    /// letters, digits and underscores; not `sqlite_…`, which SQLite keeps for itself. Prefixes
    /// that differ in case only are one.
    std::string_view prefix = "harel";

    /// How long a claimed message is leased unless the claim says otherwise: longer than its work
    /// takes. Zero or more.
    duration visibility = std::chrono::seconds{30};

    /// Whether to create or upgrade the tables at the first use. False leaves the schema to
    /// somebody else (see <skein/schema.hpp>): the first use fails when the tables are not there.
    bool create_schema = true;

    /// Whether a group that a publish creates waits behind those that are there. Otherwise it comes
    /// first, also each time it has drained and is filled again: a group that answers every message
    /// with the next one then keeps the others waiting. It is the publisher's option that counts.
    bool fair_turns = false;
};

/// What goes with a message.
struct publish_options {
    /// 0 to 4. Takes effect when this publish creates the group, and stays until the group drains.
    int priority = 0;

    /// For which kind of worker the group is. Takes effect like the priority; absent: no key.
    std::optional<std::string_view> routing_key = {};
};

/// One of the messages of `publish_many`.
struct publication {
    std::string_view group;
    std::string_view payload;
    publish_options options = {};
};

/// What a claim accepts.
struct claim_options {
    /// Written into the file beside the lease, for those who look. Empty: an id of the database
    /// object. It is not what protects a lease; two workers may share one.
    std::string_view worker = {};

    /// Groups of a lower priority are left alone; 0 to 4. It is a floor, not an order: among the
    /// groups at or above it the least recently claimed goes first.
    int min_priority = 0;

    /// Absent: groups of any key, or none. Present: only groups of one of these keys; an empty list
    /// matches nothing.
    std::optional<std::span<const std::string_view>> routing_keys = {};

    /// With routing keys: groups that have none are accepted too.
    bool or_without_key = false;

    /// How long the message is leased; absent: `transport_options::visibility`. Zero or more.
    std::optional<duration> visibility = {};
};

/// What `transport::repair` has done, in groups.
struct repair_result {
    std::size_t orphans_healed = 0; ///< had messages and no row; claims find them now
    std::size_t ghosts_removed = 0; ///< had a row and no messages
};

/// Ordered message groups: messages of one group are delivered one at a time, in the order they
/// were published; different groups in turn, the least recently claimed first.
///
/// A message is leased by a claim and removed by `ack`. It is delivered again when its worker gives
/// it back, dies, or lets the lease run out: at least once.
///
/// A handle: cheap to copy, safe from any thread and executor, alive as long as anybody holds it.
/// Made by `database::transport`; a moved-from one may only be assigned to or destroyed.
///
/// All operations
/// - own their arguments from the call on, so nothing that is passed needs to live longer;
/// - throw `errc::invalid_argument` and `errc::payload_too_large` from the call itself, and the
///   other errors of `database` when they are awaited;
/// - resume on the caller's executor;
/// - can be cancelled, with every type of cancellation, until their batch begins: they end with
///   `asio::error::operation_aborted` and have done nothing. From then on they run to their end and
///   return their result.
class SKEIN_EXPORT transport {
public:
    /// Appends a message to a group.
    ///
    /// `payload`: any text, delivered byte for byte.
    /// Returns when it is committed (see `database_options::durability`).
    [[nodiscard]] asio::awaitable<void> publish(std::string_view group, std::string_view payload,
                                                publish_options options = {}) const;

    /// Appends a value, encoded by `payload_codec` (see <skein/json.hpp>).
    ///
    /// Throws also: what the codec throws; nothing is published then.
    template <class Value>
        requires encodable<std::remove_cvref_t<Value>>
    [[nodiscard]] asio::awaitable<void> publish(std::string_view group, Value&& value,
                                                publish_options options = {}) const
    {
        static_assert(is_safe_await_argument<Value>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the value first: "
                      "const T value{...}; co_await transport.publish(group, value);");
        const std::string text = payload_codec<std::remove_cvref_t<Value>>::encode(value);
        return publish(group, std::string_view(text), options);
    }

    /// Appends a message inside a transaction: it is there if and when that commits.
    ///
    /// Throws also: `errc::invalid_argument` for a transaction of another database.
    void publish(transaction& tx, std::string_view group, std::string_view payload,
                 publish_options options = {}) const;

    /// Appends messages, in this order and in one commit: all of them or none.
    ///
    /// A batch is held together: other operations, and other processes that want to write, wait
    /// until all of it is written.
    [[nodiscard]] asio::awaitable<void>
    publish_many(std::span<const publication> publications) const;
    void publish_many(transaction& tx, std::span<const publication> publications) const;

    /// Leases the oldest message of the group whose turn it is. Waits without limit until there is
    /// one; cancel it, close the database, or use `claim_within`.
    ///
    /// Waiting costs no query. Waiters that accept the same are served in the order they came.
    /// Returns: a message, leased to the caller. Lease: from the moment the write lock was held.
    /// Throws: `errc::closed` when the database is closed before there is a message.
    [[nodiscard]] asio::awaitable<message> claim(claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<message> claim(std::string_view worker) const;

    /// Leases a message if there is one now.
    ///
    /// Returns: nothing when no group that is accepted is free. Nothing is written then.
    [[nodiscard]] asio::awaitable<std::optional<message>>
    try_claim(claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::optional<message>> try_claim(std::string_view worker) const;

    /// Leases a message; waits for at most `limit`.
    ///
    /// `limit`: zero or negative means now or nothing, the longest duration means no limit.
    /// Returns: nothing when the limit has passed.
    [[nodiscard]] asio::awaitable<std::optional<message>>
    claim_within(duration limit, claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::optional<message>>
    claim_within(duration limit, std::string_view worker) const;

    /// Leases up to `most` messages, of as many groups, in one commit. Waits until there is one; it
    /// does not wait for more.
    ///
    /// `most`: 1 to 1000. Claims that wait together share what there is.
    /// Returns: at least one message, in the order of their groups' turns.
    /// Otherwise like `claim`; the other forms return no message where theirs return nothing.
    [[nodiscard]] asio::awaitable<std::vector<message>>
    claim_many(std::size_t most, claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::vector<message>>
    try_claim_many(std::size_t most, claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::vector<message>>
    claim_many_within(duration limit, std::size_t most, claim_options options = {}) const;

    /// `message::ack` for several messages, in one commit.
    ///
    /// The handles may be dropped as soon as it is awaited.
    /// Returns: for each message what its `ack` would have returned.
    /// Throws also: `errc::invalid_argument` from the call itself for an empty handle, or one of
    /// another database.
    [[nodiscard]] asio::awaitable<std::vector<bool>>
    ack_many(std::span<const message> messages) const;
    [[nodiscard]] std::vector<bool> ack_many(transaction& tx,
                                             std::span<const message> messages) const;

    /// `message::ack`, `nack` and `extend`, for the holder of a fence (see `message::detach`).
    [[nodiscard]] asio::awaitable<bool> ack(const message_fence& fence) const;
    [[nodiscard]] asio::awaitable<bool> nack(const message_fence& fence,
                                             duration delay = duration::zero()) const;
    [[nodiscard]] asio::awaitable<bool> extend(const message_fence& fence,
                                               duration visibility) const;

    /// Frees a parked group at once: its oldest message, given back with a delay, is claimable
    /// again before that delay is over. The group keeps its place in the rotation.
    ///
    /// Returns: true when the group was parked. False when its oldest message is leased or free,
    /// also because its delay is over, and when there is no such group; nothing has changed then.
    [[nodiscard]] asio::awaitable<bool> unpark(std::string_view group) const;

    /// How much there is, in one consistent look without the write lock.
    ///
    /// Returns: zeros when there are no tables yet; looking makes none, and upgrades none.
    /// Throws also: `errc::storage_failure` when there are no tables and `create_schema` is false.
    /// Cost, where the tables have the format's indexes: a look at the oldest message of every
    /// group, about a quarter of a second for 100,000 groups, and a walk over one index of the
    /// messages. Other operations wait meanwhile.
    [[nodiscard]] asio::awaitable<transport_counts> counts() const;

    /// The groups that have a row, orphans not among them (see `transport_counts`), a page at a
    /// time, in the order of their names' bytes:
    ///
    ///     std::optional<std::string> last;
    ///     do {
    ///         const auto page = co_await transport.groups({.after = last});
    ///         …
    ///         last = page.empty() ? std::nullopt : std::optional(page.back().name);
    ///     } while (last);
    ///
    /// Each page is one consistent look without the write lock.
    /// Returns: nothing when there are no more, or no tables yet.
    /// Throws also: `errc::invalid_argument` for a limit of 0; as `counts`.
    /// Cost: that of the page, however many groups there are: one look-up for each of its groups
    /// and a walk over the index entries of their messages.
    [[nodiscard]] asio::awaitable<std::vector<transport_group>>
    groups(groups_options options = {}) const;

    /// Puts right what programs that publish in two commits leave behind when they die between
    /// them: gives orphans their group's row, with priority 0 and no routing key, in the order of
    /// their first messages, and removes ghosts (see `transport_counts`).
    ///
    /// Never done by itself, since such a program may be between its two commits: its group would
    /// have the wrong priority and key until it drains.
    /// Cost: as `counts`, while the write lock is held.
    [[nodiscard]] asio::awaitable<repair_result> repair() const;

    /// Takes over what an older program left in the tables `messages` and `groups`, or `messages`
    /// alone, before their names had a prefix: renames them to this transport's names and upgrades
    /// them. Messages, their numbers, leases and delays stay.
    ///
    /// Stop every program that uses the old names first: it would fail, or make them anew and not
    /// see what is published here.
    /// Returns: true when it was done. False when there is nothing to take over: no table
    /// `messages`, or one of them has other columns and so belongs to somebody else; nothing has
    /// changed then.
    /// Throws also: `errc::invalid_argument` when this transport holds messages already, or leaves
    /// its tables to somebody else (`create_schema` is false; see <skein/schema.hpp>).
    /// Cost: a walk over all messages, once, while the write lock is held.
    [[nodiscard]] asio::awaitable<bool> adopt_unprefixed_tables() const;

    /// `unpark`, `repair` and `adopt_unprefixed_tables` inside a transaction: they take effect if
    /// and when it commits.
    ///
    /// Throw also: `errc::invalid_argument` for a transaction of another database.
    [[nodiscard]] bool unpark(transaction& tx, std::string_view group) const;
    [[nodiscard]] repair_result repair(transaction& tx) const;
    [[nodiscard]] bool adopt_unprefixed_tables(transaction& tx) const;

    /// Two handles are equal when they name one transport of one database object.
    [[nodiscard]] bool operator==(const transport& other) const noexcept;

private:
    friend class database;
    friend class message;
    friend struct api::transport_state;

    explicit transport(std::shared_ptr<const api::transport_state> state) noexcept;

    std::shared_ptr<const api::transport_state> state_;
};

} // namespace skein
