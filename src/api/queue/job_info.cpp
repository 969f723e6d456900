#include "api/queue/job_info.hpp"

#include "api/seconds.hpp"

#include <skein/error.hpp>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace skein::api {

namespace {

job_state state_of(std::string_view stored) noexcept
{
    return stored == "pending"      ? job_state::pending
           : stored == "scheduled"  ? job_state::scheduled
           : stored == "processing" ? job_state::processing
                                    : job_state::other;
}

std::optional<clock::wall_time> moment(const std::optional<std::int64_t>& seconds)
{
    return seconds ? std::optional(from_seconds(*seconds)) : std::nullopt;
}

} // namespace

job_info job_info_maker::make(store::live_job job, std::int64_t now)
{
    job_info info;
    info.id = job.id;
    info.queue = std::move(job.queue);
    info.payload = std::move(job.payload);
    info.state = state_of(job.state);
    info.priority = job.priority;
    info.run_at = from_seconds(job.held_run_at.value_or(job.run_at));
    info.is_held = job.held_run_at.has_value();
    info.worker = std::move(job.worker_id);
    info.leased_until = moment(job.claim_expires_at);
    const bool is_processing = info.state == job_state::processing;
    if (is_processing && job.claim_expires_at && *job.claim_expires_at >= now) {
        info.claimed_at = moment(job.claimed_at);
    }
    info.attempts = job.attempts;
    info.max_attempts = job.max_attempts;
    info.created_at = from_seconds(job.created_at);
    info.expires_at = moment(job.expires_at);
    // Not from the times above: those are cut to what a time point can hold.
    const store::job_position position(job);
    info.place_ = {job.priority, is_processing ? position.claim_expires_at : job.run_at, job.id};
    return info;
}

job_info job_info_maker::make(store::dead_letter letter)
{
    job_info info;
    info.id = letter.id;
    info.queue = std::move(letter.queue);
    info.payload = std::move(letter.payload);
    info.state = job_state::dead;
    info.priority = letter.priority;
    info.run_at = from_seconds(letter.run_at);
    info.attempts = letter.attempts;
    info.max_attempts = letter.max_attempts;
    info.created_at = from_seconds(letter.created_at);
    info.last_error = std::move(letter.last_error);
    info.died_at = from_seconds(letter.died_at);
    info.place_ = {letter.priority, letter.died_at, letter.id};
    return info;
}

std::optional<job_info> job_info_maker::make(store::found_job found, std::int64_t now)
{
    if (auto* const live = std::get_if<store::live_job>(&found)) {
        return make(std::move(*live), now);
    }
    if (auto* const dead = std::get_if<store::dead_letter>(&found)) {
        return make(std::move(*dead));
    }
    return std::nullopt;
}

std::int64_t checked_limit(std::size_t limit)
{
    if (limit == 0) {
        throw error(errc::invalid_argument, "limit: 0 is not accepted; 1 and more is");
    }
    constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(limit, most));
}

} // namespace skein::api
