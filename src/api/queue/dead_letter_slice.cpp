#include "api/queue/dead_letter_slice.hpp"

#include "api/queue/job_events.hpp"
#include "api/seconds.hpp"

namespace skein::api {

namespace {

// What one slice looks at: each of them is written while the write lock is held.
constexpr std::int64_t most_in_slice = 500;

} // namespace

void dead_letter_slice::run(runtime::batch& batch)
{
    store::dead_letters& letters = where_->ready(batch).dead;
    end_ = begin_;
    if (!end_.last) {
        end_.last = letters.last_within(where_->name(), task_->limits, to_seconds(batch.now()));
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
            note_enqueued(batch, *where_->source, {&*job, 1}, job_origin::dead_letter);
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
