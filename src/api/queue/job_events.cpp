#include "api/queue/job_events.hpp"

#include "store/queue/job_burial.hpp"

#include <string>

namespace skein::api {

namespace {

job_died death_of(const queue_source& queue, const store::buried_job& buried)
{
    job_died event;
    event.queue = queue.name();
    event.id = buried.id;
    event.cause =
        buried.error == store::expired_error ? death_cause::expired : death_cause::exhausted;
    event.error = buried.error;
    return event;
}

} // namespace

void note_enqueued(runtime::batch& batch, const queue_source& queue,
                   std::span<const std::int64_t> ids, job_origin origin)
{
    if (!batch.is_observed()) {
        return;
    }
    batch.note(
        [&queue, origin, kept = std::vector(ids.begin(), ids.end())](runtime::event_sink& told) {
            for (const std::int64_t id : kept) {
                told.tell([&](observer& who) { who.on_job_enqueued({queue.name(), id, origin}); });
            }
        });
}

void note_cancelled(runtime::batch& batch, std::string_view queue, std::int64_t id)
{
    if (batch.is_observed()) {
        batch.note([name = std::string(queue), id](runtime::event_sink& told) {
            told.tell([&](observer& who) { who.on_job_cancelled({name, id}); });
        });
    }
}

void note_buried(runtime::batch& batch, const queue_source& queue,
                 const std::vector<store::buried_job>& buried)
{
    if (buried.empty() || !batch.is_observed()) {
        return;
    }
    batch.note([&queue, kept = buried](runtime::event_sink& told) {
        for (const store::buried_job& each : kept) {
            told.tell([&](observer& who) { who.on_job_died(death_of(queue, each)); });
        }
    });
}

} // namespace skein::api
