#include "api/queue/dead_letter_slice.hpp"

#include "api/seconds.hpp"
#include "store/saturating.hpp"

#include <algorithm>
#include <limits>

namespace skein::api {

namespace {

// What one slice looks at: each of them is written while the write lock is held.
constexpr std::int64_t most_in_slice = 500;

using position = store::dead_letter_position;

/// Behind all that died before this second.
position before(std::int64_t second)
{
    return {store::saturating_add(second, -1), std::numeric_limits<std::int64_t>::max()};
}

/// The last letter that is meant. What a retention gives up, by age or by number, is the older part
/// of the letters either way.
position last_of(const dead_letter_task& task, store::dead_letters& letters, std::string_view queue,
                 std::int64_t now)
{
    position last = letters.newest_but(queue, task.keep.value_or(0)).value_or(position());
    if (task.died_before) {
        last = std::min(last, before(*task.died_before));
    }
    if (task.older_than) {
        const position too_old = before(store::saturating_add(now, -*task.older_than));
        last = task.keep ? std::max(last, too_old) : std::min(last, too_old);
    }
    return last;
}

} // namespace

void dead_letter_slice::run(runtime::batch& batch)
{
    store::dead_letters& letters = where_->ready(batch).dead;
    end_ = begin_;
    if (!end_.last) {
        end_.last = last_of(*task_, letters, where_->name(), to_seconds(batch.now()));
    }
    const store::dead_letter_slice chosen = letters.next_slice(
        {where_->name(), begin_.after, *end_.last, task_->last_error}, most_in_slice);
    result.clear();
    if (task_->what == dead_letter_task::action::redrive) {
        redrive(batch, chosen.ids);
    } else {
        remove(batch, chosen.ids);
    }
    end_.after = chosen.end;
    end_.is_done = chosen.is_last;
}

void dead_letter_slice::redrive(runtime::batch& batch, const std::vector<std::int64_t>& ids)
{
    store::dead_letters& letters = where_->ready(batch).dead;
    const std::int64_t now = to_seconds(batch.now());
    for (const std::int64_t each : ids) {
        if (const auto job = letters.redrive(where_->name(), each, now)) {
            result.push_back({each, *job});
            queue_store::touch_end(batch, each);
        }
    }
    if (!result.empty()) {
        batch.touch(*where_->source);
    }
}

void dead_letter_slice::remove(runtime::batch& batch, const std::vector<std::int64_t>& ids)
{
    store::dead_letters& letters = where_->ready(batch).dead;
    for (const std::int64_t each : ids) {
        letters.remove(each);
        result.push_back({each, 0});
        queue_store::touch_end(batch, each);
    }
}

} // namespace skein::api
