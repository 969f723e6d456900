#include "store/log/notifications.hpp"

namespace skein::store {

namespace {

std::string remove_chosen(const std::string& which)
{
    return "DELETE FROM _honker_notifications WHERE id IN"
           " (SELECT id FROM _honker_notifications WHERE " +
           which + " LIMIT ?1)";
}

constexpr const char* read_since_number =
    "SELECT id, payload, created_at FROM _honker_notifications"
    " WHERE channel = ?1 AND id > ?2 ORDER BY id LIMIT ?3";

/// One statement, so that what is removed meanwhile is either read or told. The row without a
/// payload tells of what was removed.
std::string look_since_number(family_shape shape)
{
    const std::string removed =
        shape == family_shape::complete
            ? "SELECT last, NULL, NULL FROM _skein_removed_notifications WHERE name = ?1 UNION ALL "
            : "";
    return removed + "SELECT * FROM (" + read_since_number + ")";
}

notification read_row(const sqlite::execution& found)
{
    return {found.integer(0), std::string(found.text(1)), found.integer(2)};
}

/// The number in the one row that there is, or 0.
std::int64_t number(sqlite::execution found)
{
    return found.step() ? found.integer(0) : 0;
}

} // namespace

notifications::notifications(sqlite::connection connection, family_shape shape)
    : connection_(connection), shape_(shape),
      insert_(connection, "INSERT INTO _honker_notifications (channel, payload, created_at)"
                          " VALUES (?1, ?2, ?3)"),
      newest_(connection, "SELECT max(id) FROM _honker_notifications WHERE channel = ?1"),
      // The sequence knows numbers that were removed; somebody may have emptied it.
      last_id_(connection, "SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence"
                           " WHERE name = '_honker_notifications'), 0),"
                           " coalesce((SELECT max(id) FROM _honker_notifications), 0))"),
      read_(connection, read_since_number), look_(connection, look_since_number(shape)),
      oldest_(connection, "SELECT min(id) FROM _honker_notifications WHERE channel = ?1"),
      newest_removed_(connection, "SELECT last FROM _skein_removed_notifications WHERE name = ?1"),
      purge_(connection, remove_chosen("created_at < ?2 ORDER BY created_at, id")),
      newest_but_(connection,
                  "SELECT id FROM _honker_notifications ORDER BY id DESC LIMIT 1 OFFSET ?1"),
      remove_through_(connection, remove_chosen("id <= ?2 ORDER BY id"))
{
}

std::int64_t notifications::notify(std::string_view channel, std::string_view payload,
                                   std::int64_t now)
{
    if (insert_.run(channel, payload, now) == 0) {
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER,
                            "a trigger on _honker_notifications ignores the notification");
    }
    return connection_.last_insert_rowid();
}

std::int64_t notifications::newest(std::string_view channel)
{
    return number(newest_.start(channel));
}

std::int64_t notifications::last_id()
{
    return number(last_id_.start());
}

std::vector<notification> notifications::read_since(std::string_view channel, std::int64_t id,
                                                    std::int64_t limit)
{
    std::vector<notification> all;
    sqlite::execution found = read_.start(channel, id, limit);
    while (found.step()) {
        all.push_back(read_row(found));
    }
    return all;
}

log_page<notification> notifications::look_since(std::string_view channel, std::int64_t id,
                                                 std::int64_t limit)
{
    return read_page<notification>(look_.start(channel, id, limit), shape_, 1, read_row);
}

std::int64_t notifications::oldest(std::string_view channel)
{
    return number(oldest_.start(channel));
}

std::optional<std::int64_t> notifications::newest_removed(std::string_view channel)
{
    if (shape_ != family_shape::complete) {
        return std::nullopt;
    }
    return number(newest_removed_.start(channel));
}

std::int64_t notifications::purge(std::int64_t created_before, std::int64_t most)
{
    return purge_.run(most, created_before);
}

std::optional<std::int64_t> notifications::newest_but(std::int64_t kept)
{
    sqlite::execution found = newest_but_.start(kept);
    if (!found.step()) {
        return std::nullopt;
    }
    return found.integer(0);
}

std::int64_t notifications::remove_through(std::int64_t id, std::int64_t most)
{
    return remove_through_.run(most, id);
}

} // namespace skein::store
