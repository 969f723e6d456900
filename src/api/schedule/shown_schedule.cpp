#include "api/schedule/shown_schedule.hpp"

#include "api/seconds.hpp"

#include <chrono>
#include <utility>

namespace skein::api {

namespace {

missed_moments shown(store::missed_moments missed)
{
    switch (missed) {
    case store::missed_moments::once:
        return missed_moments::once;
    case store::missed_moments::skip:
        return missed_moments::skip;
    case store::missed_moments::all:
        break;
    }
    return missed_moments::all;
}

overlap_policy shown(store::overlap_policy overlap)
{
    return overlap == store::overlap_policy::skip ? overlap_policy::skip : overlap_policy::allow;
}

std::optional<clock::wall_time> shown(const std::optional<std::int64_t>& moment)
{
    return moment ? std::optional(from_seconds(*moment)) : std::nullopt;
}

} // namespace

schedule shown_schedule(store::schedule stored)
{
    schedule told;
    told.name = std::move(stored.name);
    told.queue = std::move(stored.queue);
    told.expression = std::move(stored.expression);
    told.payload = std::move(stored.payload);
    told.priority = stored.priority;
    if (stored.expires_in) {
        told.expires_in = std::chrono::seconds(*stored.expires_in);
    }
    told.max_attempts = stored.max_attempts;
    told.is_paused = !stored.is_enabled;
    told.next_at = shown(stored.next_fire_at);
    told.ends_at = shown(stored.ends_at);
    told.runs_left = stored.runs_left;
    told.missed = shown(stored.missed);
    if (told.missed == missed_moments::skip) {
        told.grace = std::chrono::seconds(stored.grace);
    }
    told.overlap = shown(stored.overlap);
    told.last_job = stored.last_job;
    return told;
}

} // namespace skein::api
