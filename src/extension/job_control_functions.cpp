// Control of jobs that wait, of those that run, and of queues.

#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/options.hpp"
#include "store/queue/held_jobs_schema.hpp"
#include "store/queue/stop_requests_schema.hpp"

#include <array>
#include <string>

namespace skein::extension {

namespace {

constexpr std::array known{"priority", "run_at", "delay_s"};

void change(call& from)
{
    const std::string_view queue = from.text(0);
    const std::int64_t id = from.integer(1);
    store::job_change wanted;
    wanted.payload = from.text_or_null(2);
    const options given(from, 3, known, R"({"priority":5,"delay_s":30})");
    const auto take = [&](const char* name, auto& value) {
        if (given.has(name)) {
            value = given.number(name);
        }
    };
    given.refuse_together("run_at", "delay_s");
    take("priority", wanted.priority);
    take("run_at", wanted.run_at);
    take("delay_s", wanted.delay);
    store::require_change(wanted);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(
        from, [&] { return from.where().prepared().changer.change(queue, id, wanted, now); }));
}

void request_stop(call& from)
{
    const std::string_view queue = from.text(0);
    const std::int64_t id = from.integer(1);
    host& where = from.where();
    from.result(where.atomically(from, [&] {
        store::create_family(where.connection(), store::stop_request_tables());
        return where.prepared().stops.request(queue, id);
    }));
}

/// As `honker_heartbeat`, which knows no requests: 2 where the lease was extended and its holder is
/// to stop.
void heartbeat(call& from)
{
    const store::job_fence fence{from.integer(0), std::string(from.text(1)), from.integer(3)};
    const std::int64_t seconds = from.integer(2);
    host& where = from.where();
    if (!where.prepared().finisher.extend(fence, seconds, from.now())) {
        from.result(false);
        return;
    }
    const bool is_ever_asked =
        store::inspect_family(where.connection(), store::stop_request_tables()) !=
        store::family_shape::missing;
    const bool is_to_stop =
        is_ever_asked && where.prepared().stops.is_requested(fence.id, *fence.attempts);
    from.result(std::int64_t{is_to_stop ? 2 : 1});
}

/// What one call moves: the write lock is held meanwhile.
constexpr std::int64_t most_in_slice = 1000;

/// Says so, and moves the first, or the next, jobs. Returns how many those were.
void move_jobs(call& from, bool (store::queue_pauses::*toggle)(std::string_view))
{
    const std::string_view queue = from.text(0);
    host& where = from.where();
    from.result(where.atomically(from, [&] {
        store::create_family(where.connection(), store::held_job_tables());
        store::queue_pauses& pauses = where.prepared().pauses;
        (pauses.*toggle)(queue);
        return pauses.move_slice(queue, most_in_slice);
    }));
}

void pause(call& from)
{
    move_jobs(from, &store::queue_pauses::pause);
}

void resume(call& from)
{
    move_jobs(from, &store::queue_pauses::resume);
}

void is_paused(call& from)
{
    from.result(from.where().prepared().held.is_paused(from.text(0)));
}

} // namespace

std::vector<function> job_control_functions()
{
    return {{"skein_job_change", {"queue", "job_id", "payload", "options"}, change},
            {"skein_job_request_stop", {"queue", "job_id"}, request_stop},
            {"skein_heartbeat", {"job_id", "worker_id", "extend_s", "attempt"}, heartbeat},
            {"skein_queue_pause", {"queue"}, pause},
            {"skein_queue_resume", {"queue"}, resume},
            {"skein_queue_is_paused", {"queue"}, is_paused}};
}

} // namespace skein::extension
