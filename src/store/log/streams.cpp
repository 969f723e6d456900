#include "store/log/streams.hpp"

#include <algorithm>

namespace skein::store {

namespace {

constexpr const char* read_since_offset =
    "SELECT offset, key, payload, created_at FROM _honker_stream"
    " WHERE topic = ?1 AND offset > ?2 ORDER BY offset LIMIT ?3";

/// One statement, so that what is removed meanwhile is either read or told. The row without a
/// payload tells of what was removed.
std::string look_since_offset(family_shape shape)
{
    const std::string removed =
        shape == family_shape::complete
            ? "SELECT last, NULL, NULL, NULL FROM _skein_removed_events WHERE name = ?1 UNION ALL "
            : "";
    return removed + "SELECT * FROM (" + read_since_offset + ")";
}

stream_event read_row(const sqlite::execution& found)
{
    stream_event event;
    event.offset = found.integer(0);
    if (!found.is_null(1)) {
        event.key.emplace(found.text(1));
    }
    event.payload = found.text(2);
    event.created_at = found.integer(3);
    return event;
}

/// What the one row says, if it says anything.
std::optional<std::int64_t> number(sqlite::execution found)
{
    if (!found.step() || found.is_null(0)) {
        return std::nullopt;
    }
    return found.integer(0);
}

} // namespace

streams::streams(sqlite::connection connection, family_shape shape)
    : connection_(connection), shape_(shape),
      insert_(connection, "INSERT INTO _honker_stream (topic, key, payload, created_at)"
                          " VALUES (?1, ?2, ?3, ?4)"),
      read_(connection, read_since_offset), look_(connection, look_since_offset(shape)),
      first_offset_(connection, "SELECT min(offset) FROM _honker_stream WHERE topic = ?1"),
      last_offset_(connection, "SELECT max(offset) FROM _honker_stream WHERE topic = ?1"),
      last_removed_(connection, "SELECT last FROM _skein_removed_events WHERE name = ?1"),
      save_offset_(connection, "INSERT INTO _honker_stream_consumers (name, topic, offset)"
                               " VALUES (?1, ?2, ?3) ON CONFLICT (name, topic) DO UPDATE"
                               " SET offset = excluded.offset WHERE excluded.offset > offset"),
      offset_(connection, "SELECT offset, typeof(offset) FROM _honker_stream_consumers"
                          " WHERE name = ?1 AND topic = ?2"),
      consumers_(connection, "SELECT name, offset FROM _honker_stream_consumers"
                             " WHERE topic = ?1 ORDER BY offset, name"),
      forget_consumer_(connection, "DELETE FROM _honker_stream_consumers"
                                   " WHERE name = ?1 AND topic = ?2"),
      passed_by_all_(connection,
                     "SELECT min(offset) FROM _honker_stream_consumers WHERE topic = ?1"),
      last_but_(connection, "SELECT offset FROM _honker_stream WHERE topic = ?1"
                            " ORDER BY offset DESC LIMIT 1 OFFSET ?2"),
      walk_(connection, "SELECT offset, created_at < ?2 FROM _honker_stream WHERE topic = ?1"
                        " ORDER BY offset LIMIT ?3"),
      trim_(connection, "DELETE FROM _honker_stream WHERE offset IN (SELECT offset"
                        " FROM _honker_stream WHERE topic = ?1 AND offset <= ?2"
                        " ORDER BY offset LIMIT ?3)")
{
}

std::int64_t streams::publish(std::string_view topic, std::optional<std::string_view> key,
                              std::string_view payload, std::int64_t now)
{
    if (insert_.run(topic, key, payload, now) == 0) {
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER,
                            "a trigger on _honker_stream ignores the event");
    }
    return connection_.last_insert_rowid();
}

std::vector<stream_event> streams::read_since(std::string_view topic, std::int64_t offset,
                                              std::int64_t limit)
{
    std::vector<stream_event> all;
    sqlite::execution found = read_.start(topic, offset, limit);
    while (found.step()) {
        all.push_back(read_row(found));
    }
    return all;
}

log_page<stream_event> streams::look_since(std::string_view topic, std::int64_t offset,
                                           std::int64_t limit)
{
    return read_page<stream_event>(look_.start(topic, offset, limit), shape_, 2, read_row);
}

std::int64_t streams::first_offset(std::string_view topic)
{
    return number(first_offset_.start(topic)).value_or(0);
}

std::int64_t streams::last_offset(std::string_view topic)
{
    std::optional<std::int64_t> last = number(last_offset_.start(topic));
    if (shape_ == family_shape::complete) {
        last = std::max(last, number(last_removed_.start(topic)));
    }
    return last.value_or(0);
}

std::optional<std::int64_t> streams::last_removed(std::string_view topic)
{
    if (shape_ != family_shape::complete) {
        return std::nullopt;
    }
    return number(last_removed_.start(topic)).value_or(0);
}

bool streams::save_offset(std::string_view consumer, std::string_view topic, std::int64_t offset)
{
    return save_offset_.run(consumer, topic, offset) == 1;
}

std::optional<std::int64_t> streams::saved_offset(std::string_view consumer, std::string_view topic)
{
    sqlite::execution found = offset_.start(consumer, topic);
    if (!found.step()) {
        return std::nullopt;
    }
    if (found.text(1) != "integer") {
        // Taken for a number it would be the beginning of the stream.
        throw sqlite::error(SQLITE_MISMATCH, "Invalid column type " + std::string(found.text(1)) +
                                                 " of offset in _honker_stream_consumers");
    }
    return found.integer(0);
}

std::int64_t streams::offset(std::string_view consumer, std::string_view topic)
{
    return saved_offset(consumer, topic).value_or(0);
}

std::vector<stream_consumer> streams::consumers(std::string_view topic)
{
    std::vector<stream_consumer> all;
    sqlite::execution found = consumers_.start(topic);
    while (found.step()) {
        all.push_back({std::string(found.text(0)), found.integer(1)});
    }
    return all;
}

bool streams::forget_consumer(std::string_view consumer, std::string_view topic)
{
    return forget_consumer_.run(consumer, topic) == 1;
}

std::optional<std::int64_t> streams::passed_by_all(std::string_view topic)
{
    return number(passed_by_all_.start(topic));
}

std::optional<std::int64_t> streams::last_but(std::string_view topic, std::int64_t kept)
{
    return number(last_but_.start(topic, kept));
}

std::int64_t streams::trim_through(std::string_view topic, std::int64_t offset, std::int64_t most)
{
    return trim_.run(topic, offset, most);
}

std::int64_t streams::trim_older(std::string_view topic, std::int64_t created_before,
                                 std::int64_t most)
{
    std::optional<std::int64_t> last;
    {
        sqlite::execution found = walk_.start(topic, created_before, most);
        while (found.step() && found.integer(1) != 0) {
            last = found.integer(0);
        }
    }
    return last ? trim_through(topic, *last, most) : 0;
}

} // namespace skein::store
