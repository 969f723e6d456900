#include "store/lock/named_locks.hpp"

#include "store/error.hpp"
#include "store/saturating.hpp"

#include <algorithm>

namespace skein::store {

namespace {

/// A text, which another program may have stored, comes after every number: that lock never ends.
constexpr const char* end_of_lock =
    "iif(typeof(expires_at) IN ('integer', 'real'), expires_at, 9223372036854775807)";

std::string read_lock(const std::string& what, family_shape shape)
{
    const std::string fence = shape == family_shape::complete
                                  ? "(SELECT fence FROM _skein_lock_fences WHERE name = ?1)"
                                  : "NULL";
    return "SELECT " + what + ", " + end_of_lock + ", " + fence +
           " FROM _honker_locks WHERE name = ?1";
}

std::optional<std::int64_t> read_fence(const sqlite::execution& found)
{
    return found.is_null(2) ? std::nullopt : std::optional(found.integer(2));
}

} // namespace

void require_lock_ttl(std::int64_t ttl)
{
    if (ttl <= 0) {
        throw invalid_argument("ttl_s must be positive, got " + std::to_string(ttl));
    }
}

named_locks::named_locks(sqlite::connection connection, family_shape shape)
    : remove_expired_(connection, "DELETE FROM _honker_locks WHERE name = ?1 AND expires_at <= ?2"),
      insert_(connection,
              "INSERT OR IGNORE INTO _honker_locks (name, owner, expires_at) VALUES (?1, ?2, ?3)"),
      look_(connection, read_lock("owner = ?2", shape)),
      renew_(connection, "UPDATE _honker_locks SET expires_at = ?3 WHERE name = ?1 AND owner = ?2"),
      release_(connection, "DELETE FROM _honker_locks WHERE name = ?1 AND owner = ?2"),
      find_(connection, read_lock("owner", shape)),
      next_expiry_(connection, "SELECT " + std::string(end_of_lock) +
                                   " FROM _honker_locks WHERE name = ?1 AND expires_at > ?2")
{
}

lock_attempt named_locks::acquire(std::string_view name, std::string_view owner, std::int64_t ttl,
                                  std::int64_t now)
{
    remove_expired_.run(name, now);
    insert_.run(name, owner, saturating_add(now, ttl));
    sqlite::execution found = look_.start(name, owner);
    // A trigger of the user's may have kept the lock from being taken.
    if (!found.step()) {
        return {};
    }
    return {found.integer(0) != 0, found.integer(1), read_fence(found)};
}

bool named_locks::renew(std::string_view name, std::string_view owner, std::int64_t ttl,
                        std::int64_t now)
{
    return renew_.run(name, owner, saturating_add(now, ttl)) == 1;
}

bool named_locks::release(std::string_view name, std::string_view owner)
{
    return release_.run(name, owner) == 1;
}

std::optional<lock_state> named_locks::find(std::string_view name)
{
    sqlite::execution found = find_.start(name);
    if (!found.step()) {
        return std::nullopt;
    }
    return lock_state{std::string(found.text(0)), found.integer(1), read_fence(found)};
}

std::optional<std::int64_t> named_locks::next_expiry(std::string_view name, std::int64_t now)
{
    sqlite::execution found = next_expiry_.start(name, now);
    if (!found.step()) {
        return std::nullopt;
    }
    // Another program may have stored a fraction.
    return std::max(found.integer(0), saturating_add(now, 1));
}

} // namespace skein::store
