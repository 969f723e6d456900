#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"
#include "extension/retention.hpp"

#include <limits>

namespace skein::extension {

namespace {

store::dead_letters& letters_of(const call& from)
{
    return from.where().prepared().dead;
}

json to_json(const store::dead_letter& letter)
{
    return {{"attempts", letter.attempts},
            {"created_at", letter.created_at},
            {"died_at", letter.died_at},
            {"id", letter.id},
            {"last_error", or_null(letter.last_error)},
            {"max_attempts", letter.max_attempts},
            {"payload", letter.payload},
            {"priority", letter.priority},
            {"queue", letter.queue},
            {"run_at", letter.run_at}};
}

/// A negative limit means all, as everywhere in SQL.
void list(call& from)
{
    const store::dead_letter_filter filter{from.text(0)};
    const std::int64_t limit = from.integer(1);
    const std::int64_t most = limit < 0 ? std::numeric_limits<std::int64_t>::max() : limit;
    json all = json::array();
    for (const store::dead_letter& each : letters_of(from).list(filter, {}, most)) {
        all.push_back(to_json(each));
    }
    from.result(text_of(all));
}

void redrive(call& from)
{
    const std::string_view queue = from.text(0);
    const std::int64_t id = from.integer(1);
    const std::int64_t now = from.now();
    const std::optional<std::int64_t> job =
        from.where().atomically(from, [&] { return letters_of(from).redrive(queue, id, now); });
    if (job) {
        from.result(*job);
    } else {
        from.result_null();
    }
}

/// Calls `act` with the numbers of the letters up to the last one that is meant; returns how many
/// those were.
template <class Act>
std::int64_t for_each_within(const call& from, std::string_view queue,
                             const store::dead_letter_limits& limits, std::int64_t now, Act act)
{
    constexpr std::int64_t most = 500;
    store::dead_letters& letters = letters_of(from);
    store::dead_letter_walk walk{queue, {}, letters.last_within(queue, limits, now)};
    std::int64_t count = 0;
    store::dead_letter_slice slice;
    do {
        slice = letters.next_slice(walk, most);
        for (const std::int64_t each : slice.ids) {
            act(each);
            ++count;
        }
        walk.after = slice.end;
    } while (!slice.is_last);
    return count;
}

void redrive_all(call& from)
{
    const std::string_view queue = from.text(0);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(from, [&] {
        return for_each_within(from, queue, {}, now,
                               [&](std::int64_t id) { letters_of(from).redrive(queue, id, now); });
    }));
}

void prune(call& from)
{
    const std::string_view queue = from.text(0);
    const retention wanted = retention_of(from, 1);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(from, [&] {
        return for_each_within(from, queue, {.older_than = wanted.older_than, .keep = wanted.keep},
                               now, [&](std::int64_t id) { letters_of(from).remove(id); });
    }));
}

} // namespace

std::vector<function> dead_letter_functions()
{
    return {{"skein_dead_letters", {"queue", "limit"}, list},
            {"skein_dead_letter_redrive", {"queue", "job_id"}, redrive},
            {"skein_dead_letter_redrive_all", {"queue"}, redrive_all},
            {"skein_dead_letter_prune", {"queue", "older_than_s", "keep"}, prune}};
}

} // namespace skein::extension
