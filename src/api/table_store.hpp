#pragma once

#include "api/seconds.hpp"
#include "runtime/batch.hpp"
#include "runtime/source.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace skein::api {

/// The tables of one feature in the file, and the prepared statements on them, as all handles of
/// one database share them. Used on the strand only.
///
/// `Tables` says which: `statements`, made from a connection and a `shape`; the shapes `missing`
/// and `complete`; `inspect(connection)`; and `create(connection, now)`, which makes them complete.
///
/// As a source it is what waits are on; each kind of wait has lines of its own.
template <class Tables>
class table_store : public runtime::source {
public:
    using statements = typename Tables::statements;
    using shape = typename Tables::shape;

    /// For writing; creates or upgrades the tables first where that is wanted and necessary.
    statements& ready(runtime::batch& batch, bool create_schema)
    {
        if (is_usable(create_schema)) {
            return *statements_;
        }
        const sqlite::connection connection = batch.connection();
        shape present = Tables::inspect(connection);
        if (create_schema && present != shape::complete) {
            Tables::create(connection, to_seconds(batch.now()));
            present = shape::complete;
        }
        if (present != shape::missing) {
            batch.after_commit([this, connection] { note_commit(connection); });
        }
        return open(connection, present);
    }

    /// What was made ready in this batch, for looking at what has come of it. Nothing when the user
    /// has undone, with a savepoint, what made the tables.
    statements* still_there(const runtime::batch& batch)
    {
        const bool is_there =
            is_committed_ || (statements_ && Tables::inspect(batch.connection()) == shape_);
        return is_there ? statements_.get() : nullptr;
    }

    /// For looking, outside of any batch. Nothing when there are no tables, or only older ones, and
    /// they are ours to make.
    statements* find(sqlite::connection connection, bool create_schema)
    {
        if (!is_usable(create_schema)) {
            const shape present = Tables::inspect(connection);
            if (create_schema && present != shape::complete) {
                return nullptr;
            }
            open(connection, present);
            is_committed_ = present != shape::missing;
        }
        return statements_.get();
    }

    /// As `find`, for those whom tables without our additions are good enough for: to make those is
    /// for somebody who writes.
    statements* find_to_read(sqlite::connection connection, bool create_schema)
    {
        statements* const there = find(connection, create_schema);
        const bool is_plain = there == nullptr && Tables::inspect(connection) == shape::plain;
        return is_plain ? find(connection, false) : there;
    }

    /// Whether the tables that were opened last have our additions.
    [[nodiscard]] bool has_additions() const noexcept { return shape_ == shape::complete; }

    /// What has been made ready, or found, before; nothing while the tables may not be there.
    statements* opened() noexcept { return is_committed_ ? statements_.get() : nullptr; }

    std::optional<clock::wall_time> next_due(sqlite::connection /*connection*/,
                                             clock::wall_time /*since*/) override
    {
        return std::nullopt;
    }

    void disconnect() noexcept override
    {
        statements_.reset();
        is_committed_ = false;
    }

private:
    [[nodiscard]] bool is_usable(bool create_schema) const noexcept
    {
        return statements_ && is_committed_ && (!create_schema || shape_ == shape::complete);
    }

    /// The tables may have vanished all the same, with a savepoint of the user's.
    void note_commit(sqlite::connection connection) noexcept
    {
        try {
            is_committed_ = is_committed_ || Tables::inspect(connection) == shape_;
        } catch (const sqlite::error&) {
            // The next one looks again.
        }
    }

    statements& open(sqlite::connection connection, shape present)
    {
        if (!statements_ || present != shape_) {
            is_committed_ = false;
            statements_ = std::make_unique<statements>(connection, present);
            shape_ = present;
        }
        return *statements_;
    }

    std::unique_ptr<statements> statements_;
    shape shape_ = shape::missing;
    /// False while the tables could still vanish with the transaction that makes them.
    bool is_committed_ = false;
};

} // namespace skein::api
