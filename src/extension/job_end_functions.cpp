#include "extension/function.hpp"

#include "extension/host.hpp"

namespace skein::extension {

namespace {

/// The first two arguments and, in the longer form, the last one: an attempt makes it a fence that
/// holds for one claim alone.
store::job_fence fence_of(const call& from, std::size_t shorter_form)
{
    store::job_fence fence{from.integer(0), std::string(from.text(1))};
    if (from.count() > shorter_form) {
        fence.attempts = from.integer(shorter_form);
    }
    return fence;
}

void ack(call& from)
{
    const store::job_fence fence = fence_of(from, 2);
    from.result(from.where().prepared().finisher.ack(fence, from.now()));
}

void ack_batch(call& from)
{
    from.result(from.where().prepared().acks.ack(from.text(0), from.text(1), from.now()));
}

/// What has attempts left is given back by one statement, which may run anywhere; only a dead
/// letter needs more.
void retry(call& from)
{
    const store::job_fence fence = fence_of(from, 4);
    const std::int64_t delay = from.integer(2);
    const std::string_view error = from.text(3);
    const std::int64_t now = from.now();
    store::job_finisher& finisher = from.where().prepared().finisher;
    if (finisher.give_back(fence, delay, now)) {
        from.result(true);
    } else if (finisher.is_exhausted(fence, now)) {
        from.result(from.where().atomically(
            from, [&] { return finisher.bury_exhausted(fence, error, now); }));
    } else {
        from.result(false);
    }
}

void fail(call& from)
{
    const store::job_fence fence = fence_of(from, 3);
    const std::string_view error = from.text(2);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(
        from, [&] { return from.where().prepared().finisher.fail(fence, error, now); }));
}

void heartbeat(call& from)
{
    const store::job_fence fence = fence_of(from, 3);
    const std::int64_t seconds = from.integer(2);
    from.result(from.where().prepared().finisher.extend(fence, seconds, from.now()));
}

void release(call& from)
{
    const store::job_fence fence = fence_of(from, 2);
    from.result(from.where().prepared().finisher.release(fence, from.now()));
}

void snooze(call& from)
{
    const store::job_fence fence = fence_of(from, 3);
    const std::int64_t delay = from.integer(2);
    from.result(from.where().prepared().finisher.snooze(fence, delay, from.now()));
}

} // namespace

std::vector<function> job_end_functions()
{
    return {{"honker_ack", {"job_id", "worker_id"}, ack},
            {"honker_ack", {"job_id", "worker_id", "attempt"}, ack},
            {"honker_ack_batch", {"ids_json", "worker_id"}, ack_batch},
            {"honker_retry", {"job_id", "worker_id", "delay_s", "error"}, retry},
            {"honker_retry", {"job_id", "worker_id", "delay_s", "error", "attempt"}, retry},
            {"honker_fail", {"job_id", "worker_id", "error"}, fail},
            {"honker_fail", {"job_id", "worker_id", "error", "attempt"}, fail},
            {"honker_heartbeat", {"job_id", "worker_id", "extend_s"}, heartbeat},
            {"honker_heartbeat", {"job_id", "worker_id", "extend_s", "attempt"}, heartbeat},
            {"skein_release", {"job_id", "worker_id", "attempt"}, release},
            {"skein_snooze", {"job_id", "worker_id", "delay_s", "attempt"}, snooze}};
}

} // namespace skein::extension
