#include "store/queue/dead_letters.hpp"

#include "store/saturating.hpp"

#include <algorithm>
#include <limits>

namespace skein::store {

namespace {

constexpr const char* read_letter =
    "SELECT id, queue, payload, priority, run_at, attempts, max_attempts, last_error, created_at,"
    " died_at FROM _honker_dead";

/// The last second of death that the filter accepts. A bound that is always there can be found in
/// the index.
std::int64_t last_death(const dead_letter_filter& filter)
{
    return filter.died_before ? saturating_add(*filter.died_before, -1)
                              : std::numeric_limits<std::int64_t>::max();
}

/// Other programs write anything. A death at no number has no place in the order: SQLite takes any
/// text for later than every number, and here it would be read as one long ago.
constexpr const char* is_number = " AND died_at <= 9223372036854775807";

/// Behind all that died before this second.
dead_letter_position before(std::int64_t second)
{
    return {saturating_add(second, -1), std::numeric_limits<std::int64_t>::max()};
}

constexpr const char* chosen =
    " WHERE queue = ?1 AND died_at <= ?2 AND (?3 IS NULL OR last_error = ?3)";

constexpr const char* oldest_first = " ORDER BY died_at, id LIMIT ?4";

dead_letter read(const sqlite::execution& found)
{
    dead_letter letter;
    letter.id = found.integer(0);
    letter.queue = found.text(1);
    letter.payload = found.text(2);
    letter.priority = found.integer(3);
    letter.run_at = found.integer(4);
    letter.attempts = found.integer(5);
    letter.max_attempts = found.integer(6);
    if (!found.is_null(7)) {
        letter.last_error.emplace(found.text(7));
    }
    letter.created_at = found.integer(8);
    letter.died_at = found.integer(9);
    return letter;
}

std::string walk(const std::string& where)
{
    return "SELECT died_at, id, ?2 IS NULL OR last_error = ?2 FROM _honker_dead WHERE queue = ?1"
           " AND " +
           where + is_number + " ORDER BY died_at, id LIMIT ?3";
}

/// Adds to a slice the letters that a statement finds. Returns how many it has looked at.
std::int64_t take_until(const dead_letter_position& last, dead_letter_slice& slice,
                        sqlite::execution found)
{
    std::int64_t seen = 0;
    while (!slice.is_last && found.step()) {
        ++seen;
        const dead_letter_position here{found.integer(0), found.integer(1)};
        slice.is_last = here >= last;
        if (here > last) {
            break;
        }
        slice.end = here;
        if (found.integer(2) != 0) {
            slice.ids.push_back(here.id);
        }
    }
    return seen;
}

void take_rows(std::vector<dead_letter>& letters, sqlite::execution found)
{
    while (found.step()) {
        letters.push_back(read(found));
    }
}

} // namespace

dead_letters::dead_letters(sqlite::connection connection)
    : held_(connection), limits_(connection),
      find_(connection, std::string(read_letter) + " WHERE id = ?1"),
      // Two comparisons of one column each: by one of both, SQLite would walk past all that died
      // in the same second.
      list_at_(connection,
               std::string(read_letter) + chosen + " AND died_at = ?5 AND id > ?6" + oldest_first),
      list_after_(connection,
                  std::string(read_letter) + chosen + " AND died_at > ?5" + oldest_first),
      newest_but_(connection, std::string("SELECT died_at, id FROM _honker_dead WHERE queue = ?1") +
                                  is_number + " ORDER BY died_at DESC, id DESC LIMIT 1 OFFSET ?2"),
      walk_at_(connection, walk("died_at = ?4 AND id > ?5")),
      walk_after_(connection, walk("died_at > ?4")),
      insert_job_(connection,
                  "INSERT INTO _honker_live (queue, payload, priority, run_at, max_attempts,"
                  " created_at) SELECT queue, payload, priority, ?3, max(max_attempts, 1), ?3"
                  " FROM _honker_dead WHERE id = ?1 AND queue = ?2 RETURNING id"),
      remove_(connection, "DELETE FROM _honker_dead WHERE id = ?1")
{
}

std::optional<dead_letter> dead_letters::find(std::int64_t id)
{
    sqlite::execution found = find_.start(id);
    if (!found.step()) {
        return std::nullopt;
    }
    return read(found);
}

std::vector<dead_letter> dead_letters::list(const dead_letter_filter& filter,
                                            const dead_letter_position& after, std::int64_t limit)
{
    std::vector<dead_letter> letters;
    const std::int64_t last = last_death(filter);
    take_rows(letters, list_at_.start(filter.queue, last, filter.last_error, limit, after.died_at,
                                      after.id));
    const std::int64_t left = limit - static_cast<std::int64_t>(letters.size());
    if (left > 0) {
        take_rows(letters,
                  list_after_.start(filter.queue, last, filter.last_error, left, after.died_at));
    }
    return letters;
}

std::optional<dead_letter_position> dead_letters::newest_but(std::string_view queue,
                                                             std::int64_t kept)
{
    sqlite::execution found = newest_but_.start(queue, kept);
    if (!found.step()) {
        return std::nullopt;
    }
    return dead_letter_position{found.integer(0), found.integer(1)};
}

dead_letter_position dead_letters::last_within(std::string_view queue,
                                               const dead_letter_limits& limits, std::int64_t now)
{
    dead_letter_position last =
        newest_but(queue, limits.keep.value_or(0)).value_or(dead_letter_position());
    if (limits.died_before) {
        last = std::min(last, before(*limits.died_before));
    }
    if (limits.older_than) {
        const dead_letter_position too_old = before(saturating_subtract(now, *limits.older_than));
        last = limits.keep ? std::max(last, too_old) : std::min(last, too_old);
    }
    return last;
}

dead_letter_slice dead_letters::next_slice(const dead_letter_walk& walk, std::int64_t most)
{
    dead_letter_slice slice{{}, walk.after, false};
    std::int64_t left = most;
    left -= take_until(
        walk.last, slice,
        walk_at_.start(walk.queue, walk.last_error, left, walk.after.died_at, walk.after.id));
    if (!slice.is_last && left > 0) {
        left -=
            take_until(walk.last, slice,
                       walk_after_.start(walk.queue, walk.last_error, left, walk.after.died_at));
    }
    slice.is_last = slice.is_last || left > 0;
    return slice;
}

std::optional<std::int64_t> dead_letters::redrive(std::string_view queue, std::int64_t id,
                                                  std::int64_t now)
{
    std::optional<std::int64_t> job;
    {
        sqlite::execution inserted = insert_job_.start(id, queue, now);
        while (inserted.step()) {
            job = inserted.integer(0);
        }
    }
    if (job) {
        if (held_.has_tables()) {
            limits_.limit_again(queue, *job, id);
        }
        remove_.run(id);
    }
    return job;
}

void dead_letters::remove(std::int64_t id)
{
    remove_.run(id);
}

} // namespace skein::store
