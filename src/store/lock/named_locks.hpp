#pragma once

#include "sqlite/statement.hpp"
#include "store/table_family.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein::store {

/// A named lock as it is in the file. Times are epoch seconds.
struct lock_state {
    std::string owner;
    std::int64_t expires_at = 0; ///< from then on anybody may take it
    /// A number that is higher for each next holder of the lock, whichever program has taken it: a
    /// resource that has seen it can refuse those who held the lock earlier. All locks share one
    /// sequence. Nothing where the file lacks our additions.
    std::optional<std::int64_t> fence;
};

/// What has come of taking a lock.
struct lock_attempt {
    bool is_held = false; ///< by who has asked
    /// Of the lock, whoever holds it.
    std::int64_t expires_at = 0;
    std::optional<std::int64_t> fence;
};

/// Throws `store::invalid_argument` unless a lock may be renewed for so many seconds.
void require_lock_ttl(std::int64_t ttl);

/// Locks with names, which need no making. One is held by its owner, any text, until it is released
/// or taken by another after its time. Two who call themselves the same are one owner.
class named_locks {
public:
    named_locks(sqlite::connection connection, family_shape shape);

    /// Takes the lock for `ttl` seconds if nobody else holds it. One that is not positive gives a
    /// lock that has expired already. An owner that holds it goes on holding it, under its old
    /// fence and no longer than before. Wants a write transaction.
    lock_attempt acquire(std::string_view name, std::string_view owner, std::int64_t ttl,
                         std::int64_t now);

    /// Lets the lock end `ttl` seconds from now, sooner or later than before. An owner may do so
    /// also after its time, until another has taken it. Returns whether it is this owner's. `ttl`
    /// is one that `require_lock_ttl` accepts. Wants a write transaction.
    bool renew(std::string_view name, std::string_view owner, std::int64_t ttl, std::int64_t now);

    /// Gives the lock up, be its time over or not. Returns whether it was this owner's. Wants a
    /// write transaction.
    bool release(std::string_view name, std::string_view owner);

    /// Who has the lock, be its time over or not; nothing when nobody has. Only reads.
    [[nodiscard]] std::optional<lock_state> find(std::string_view name);

    /// When the lock that somebody holds will be free, if nobody renews it; nothing when it is free
    /// at `now`. Always later than `now`. Only reads.
    [[nodiscard]] std::optional<std::int64_t> next_expiry(std::string_view name, std::int64_t now);

private:
    sqlite::statement remove_expired_;
    sqlite::statement insert_;
    sqlite::statement look_;
    sqlite::statement renew_;
    sqlite::statement release_;
    sqlite::statement find_;
    sqlite::statement next_expiry_;
};

} // namespace skein::store
