#include "store/queue_model.hpp"

#include <algorithm>
#include <tuple>

namespace skein::store {

namespace {

std::string line(std::initializer_list<std::string> columns)
{
    std::string joined;
    for (const std::string& each : columns) {
        joined += (joined.empty() ? "" : "|") + each;
    }
    return joined;
}

std::string text(std::int64_t value)
{
    return std::to_string(value);
}

} // namespace

bool queue_model::is_lapsed(const stored_job& job, std::int64_t now)
{
    return job.held && job.held->end < now;
}

bool queue_model::is_expired(const stored_job& job, std::int64_t now)
{
    return job.expires_at && *job.expires_at <= now;
}

std::int64_t queue_model::enqueue(const new_job& what, std::int64_t now)
{
    stored_job made;
    made.payload = what.payload;
    made.run_at = what.delay ? now + *what.delay : what.run_at.value_or(now);
    made.state = made.run_at > now ? "scheduled" : "pending";
    made.priority = what.priority;
    made.attempts = 0;
    made.max_attempts = what.max_attempts;
    if (what.expires_in) {
        made.expires_at = now + *what.expires_in;
    }
    live_[++last_id_] = made;
    return last_id_;
}

std::int64_t queue_model::sweep_expired(std::int64_t now)
{
    std::int64_t swept = 0;
    for (auto each = live_.begin(); each != live_.end();) {
        const bool is_free = !each->second.held || is_lapsed(each->second, now);
        if (is_expired(each->second, now) && is_free) {
            each = bury(each, "expired", now);
            ++swept;
        } else {
            ++each;
        }
    }
    return swept;
}

std::vector<claimed_job> queue_model::claim(const std::string& worker, std::int64_t visibility,
                                            std::int64_t most, std::int64_t now)
{
    for (auto& [id, job] : live_) {
        if (job.state == "scheduled" && job.run_at <= now) {
            job.state = "pending";
        }
    }
    sweep_expired(now);
    for (auto each = live_.begin(); each != live_.end();) {
        const stored_job& there = each->second;
        each = is_lapsed(there, now) && there.attempts >= there.max_attempts
                   ? bury(each, "max attempts exceeded", now)
                   : std::next(each);
    }

    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> order;
    for (const auto& [id, job] : live_) {
        if ((job.state == "pending" || is_lapsed(job, now)) && !is_expired(job, now)) {
            order.emplace_back(-job.priority, job.run_at, id);
        }
    }
    std::sort(order.begin(), order.end());

    std::vector<claimed_job> claimed;
    for (const auto& [priority, run_at, id] : order) {
        if (most >= 0 && static_cast<std::int64_t>(claimed.size()) >= most) {
            break;
        }
        stored_job& taken = live_.at(id);
        taken.state = "processing";
        taken.held = lease{worker, now + visibility, now};
        ++taken.attempts;
        claimed.push_back({{id, worker, taken.attempts},
                           taken.payload,
                           taken.max_attempts,
                           now,
                           now + visibility});
    }
    return claimed;
}

std::optional<std::int64_t> queue_model::next_claim_at(std::int64_t now) const
{
    std::optional<std::int64_t> next;
    for (const auto& [id, job] : live_) {
        if (job.attempts < job.max_attempts && !is_expired(job, now)) {
            const std::int64_t time = std::max(now, job.held ? job.held->end + 1 : job.run_at);
            next = std::min(next.value_or(time), time);
        }
    }
    return next;
}

queue_model::jobs::iterator queue_model::find(const job_fence& fence, std::int64_t now)
{
    const auto found = live_.find(fence.id);
    if (found == live_.end() || !found->second.held ||
        found->second.held->worker != fence.worker_id) {
        return live_.end();
    }
    const stored_job& there = found->second;
    const bool holds = fence.attempts ? there.attempts == *fence.attempts : !is_lapsed(there, now);
    return holds ? found : live_.end();
}

void queue_model::free(stored_job& job, std::int64_t delay, std::int64_t now)
{
    job.held.reset();
    job.run_at = now + delay;
    job.state = delay > 0 ? "scheduled" : "pending";
}

queue_model::jobs::iterator queue_model::bury(jobs::iterator which, const std::string& error,
                                              std::int64_t now)
{
    const stored_job& there = which->second;
    dead_[which->first] = {there.payload,      there.priority, there.attempts,
                           there.max_attempts, error,          now};
    return live_.erase(which);
}

bool queue_model::ack(const job_fence& fence, std::int64_t now)
{
    const auto found = find(fence, now);
    if (found == live_.end()) {
        return false;
    }
    live_.erase(found);
    return true;
}

retry_outcome queue_model::retry(const job_fence& fence, std::int64_t delay,
                                 const std::string& error, std::int64_t now)
{
    const auto found = find(fence, now);
    if (found == live_.end()) {
        return retry_outcome::stale;
    }
    if (found->second.attempts >= found->second.max_attempts) {
        bury(found, error, now);
        return retry_outcome::dead;
    }
    free(found->second, delay, now);
    return retry_outcome::waiting;
}

bool queue_model::fail(const job_fence& fence, const std::string& error, std::int64_t now)
{
    const auto found = find(fence, now);
    if (found == live_.end()) {
        return false;
    }
    bury(found, error, now);
    return true;
}

bool queue_model::extend(const job_fence& fence, std::int64_t seconds, std::int64_t now)
{
    const auto found = find(fence, now);
    if (found == live_.end()) {
        return false;
    }
    found->second.held->end = now + seconds;
    return true;
}

bool queue_model::release(const job_fence& fence, std::int64_t now)
{
    const auto found = find(fence, now);
    if (found == live_.end()) {
        return false;
    }
    found->second.held.reset();
    found->second.state = "pending";
    ++found->second.max_attempts;
    return true;
}

bool queue_model::snooze(const job_fence& fence, std::int64_t delay, std::int64_t now)
{
    const auto found = find(fence, now);
    if (found == live_.end()) {
        return false;
    }
    free(found->second, delay, now);
    ++found->second.max_attempts;
    return true;
}

bool queue_model::cancel(std::int64_t id)
{
    return live_.erase(id) == 1;
}

std::optional<std::int64_t> queue_model::redrive(std::int64_t id, std::int64_t now)
{
    const auto found = dead_.find(id);
    if (found == dead_.end()) {
        return std::nullopt;
    }
    const stored_letter there = found->second;
    dead_.erase(found);
    return enqueue({.queue = "q",
                    .payload = there.payload,
                    .priority = there.priority,
                    .max_attempts = there.max_attempts},
                   now);
}

std::vector<std::string> queue_model::live() const
{
    std::vector<std::string> lines;
    for (const auto& [id, job] : live_) {
        lines.push_back(line(
            {text(id), job.payload, job.state, text(job.priority), text(job.run_at),
             text(job.attempts), text(job.max_attempts),
             job.expires_at ? text(*job.expires_at) : "NULL", job.held ? job.held->worker : "NULL",
             job.held ? text(job.held->end) : "NULL", job.held ? text(job.held->begin) : "NULL"}));
    }
    return lines;
}

std::vector<std::string> queue_model::dead() const
{
    std::vector<std::string> lines;
    for (const auto& [id, there] : dead_) {
        lines.push_back(line({text(id), there.payload, text(there.priority), text(there.attempts),
                              text(there.max_attempts), there.error, text(there.died_at)}));
    }
    return lines;
}

} // namespace skein::store
