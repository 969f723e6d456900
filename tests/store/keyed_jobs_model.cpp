#include "store/keyed_jobs_model.hpp"

#include <algorithm>

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

std::string text(const std::optional<std::int64_t>& value)
{
    return value ? text(*value) : "NULL";
}

} // namespace

keyed_jobs_model::position keyed_jobs_model::place_of(const jobs::value_type& job)
{
    return {-job.second.priority, job.second.due, job.first};
}

bool keyed_jobs_model::is_lapsed(const stored_job& job, std::int64_t now)
{
    return job.held && job.held->end < now;
}

bool keyed_jobs_model::is_expired(const stored_job& job, std::int64_t now)
{
    return job.expires_at && *job.expires_at <= now;
}

bool keyed_jobs_model::is_over(const stored_job& job, std::int64_t now)
{
    const bool is_free = !job.held || is_lapsed(job, now);
    const bool is_exhausted = is_lapsed(job, now) && job.attempts >= job.max_attempts;
    return (is_free && is_expired(job, now)) || is_exhausted;
}

void keyed_jobs_model::set_due(stored_job& job, std::int64_t due, std::int64_t now)
{
    job.due = due;
    job.is_ready = due <= now;
}

enqueued_job keyed_jobs_model::enqueue(const new_job& what, const job_keys& keys, std::int64_t now)
{
    const std::string queue(what.queue);
    if (keys.unique) {
        if (const auto found = holder(queue, std::string(keys.unique->key), now)) {
            job_change wanted;
            if (keys.on_conflict == on_conflict::replace_payload ||
                keys.on_conflict == on_conflict::replace_and_move) {
                wanted.payload = what.payload;
            }
            if (keys.on_conflict == on_conflict::move_due_time ||
                keys.on_conflict == on_conflict::replace_and_move) {
                wanted.run_at = what.delay ? now + *what.delay : now;
            }
            const bool is_changed =
                keys.on_conflict != on_conflict::skip && change(queue, *found, wanted, now);
            return {*found, is_changed ? enqueue_outcome::changed : enqueue_outcome::skipped};
        }
    }
    stored_job made{.queue = queue,
                    .payload = std::string(what.payload),
                    .is_ready = false,
                    .priority = what.priority,
                    .due = 0,
                    .attempts = 0,
                    .max_attempts = what.max_attempts,
                    .expires_at = {},
                    .limit = {},
                    .held = {}};
    set_due(made, now + what.delay.value_or(0), now);
    if (what.expires_in) {
        made.expires_at = now + *what.expires_in;
    }
    ++last_id_;
    if (keys.unique) {
        std::optional<std::int64_t> ends_at;
        if (keys.unique->period) {
            ends_at = now + *keys.unique->period;
        }
        unique_[{queue, std::string(keys.unique->key)}] = {last_id_, keys.unique->while_running,
                                                           ends_at};
    }
    if (keys.limit) {
        made.limit = std::string(keys.limit->key);
        limits_[{queue, *made.limit}] = keys.limit->most;
    }
    live_[last_id_] = made;
    return {last_id_, enqueue_outcome::created};
}

bool keyed_jobs_model::change(std::string_view queue, std::int64_t id, const job_change& wanted,
                              std::int64_t now)
{
    const auto found = live_.find(id);
    if (found == live_.end() || found->second.held || found->second.queue != queue) {
        return false;
    }
    found->second.payload = wanted.payload.value_or(found->second.payload);
    found->second.priority = wanted.priority.value_or(found->second.priority);
    if (wanted.delay || wanted.run_at) {
        set_due(found->second, wanted.delay ? now + *wanted.delay : *wanted.run_at, now);
    }
    return true;
}

std::optional<std::int64_t> keyed_jobs_model::holder(const std::string& queue,
                                                     const std::string& key, std::int64_t now) const
{
    const auto entry = unique_.find({queue, key});
    if (entry == unique_.end()) {
        return std::nullopt;
    }
    const auto job = live_.find(entry->second.id);
    const bool is_taken = entry->second.ends_at.value_or(now) > now;
    const bool holds = job != live_.end() && (!job->second.held || entry->second.while_running);
    return is_taken || holds ? std::optional(entry->second.id) : std::nullopt;
}

std::int64_t keyed_jobs_model::running(const std::string& queue, const std::string& key) const
{
    return std::count_if(live_.begin(), live_.end(), [&](const auto& each) {
        return each.second.queue == queue && each.second.limit == key && each.second.held;
    });
}

keyed_jobs_model::ids keyed_jobs_model::blocked() const
{
    std::map<key_name, std::vector<position>> waiting;
    for (const auto& each : live_) {
        if (each.second.limit && !each.second.held && each.second.is_ready) {
            waiting[{each.second.queue, *each.second.limit}].push_back(place_of(each));
        }
    }
    ids those;
    for (auto& [key, places] : waiting) {
        std::sort(places.begin(), places.end());
        auto left = std::max<std::int64_t>(0, limits_.at(key) - running(key.first, key.second));
        for (const position& each : places) {
            if (left-- <= 0) {
                those.insert(std::get<2>(each));
            }
        }
    }
    return those;
}

bool keyed_jobs_model::must_bury(std::string_view queue, std::int64_t now) const
{
    return std::any_of(live_.begin(), live_.end(), [&](const auto& each) {
        return each.second.queue == queue && is_over(each.second, now);
    });
}

void keyed_jobs_model::keep_house(std::string_view queue, const ids& aside, std::int64_t now)
{
    for (auto& [id, job] : live_) {
        const bool is_due = !job.held && job.due <= now;
        job.is_ready |= job.queue == queue && is_due && aside.count(id) == 0;
    }
    for (auto each = live_.begin(); each != live_.end();) {
        const bool is_ours = each->second.queue == queue;
        each = is_ours && is_over(each->second, now) ? bury(each) : std::next(each);
    }
}

std::vector<job_fence> keyed_jobs_model::claim(const std::string& queue, const std::string& worker,
                                               std::int64_t visibility, std::size_t most,
                                               const ids& aside, std::int64_t now)
{
    const bool is_refused = is_paused(queue);
    // What changes its place in a queue that is paused is put aside by that.
    ids not_claimable = aside;
    if (is_refused) {
        not_claimable.merge(blocked());
        for (const auto& [id, job] : live_) {
            if (!job.held && !job.is_ready) {
                not_claimable.insert(id);
            }
        }
    }
    keep_house(queue, aside, now);
    not_claimable.merge(blocked());

    std::vector<position> order;
    for (const auto& each : live_) {
        const stored_job& job = each.second;
        const bool waits = !job.held && job.is_ready && not_claimable.count(each.first) == 0;
        if (job.queue == queue && (waits || is_lapsed(job, now))) {
            order.push_back(place_of(each));
        }
    }
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), most));

    std::vector<job_fence> claimed;
    for (const auto& [priority, due, id] : order) {
        stored_job& taken = live_.at(id);
        if (is_refused) {
            taken.held.reset();
            taken.is_ready = true;
        } else {
            taken.held = lease{worker, now + visibility};
            claimed.push_back({id, worker, ++taken.attempts});
        }
    }
    return claimed;
}

std::optional<std::int64_t>
keyed_jobs_model::next_claim_at(const std::string& queue, const ids& aside, std::int64_t now) const
{
    keyed_jobs_model later = *this;
    std::set<std::int64_t> moments{now};
    for (const auto& [id, job] : live_) {
        moments.insert(job.held ? job.held->end + 1 : job.due);
        moments.insert(job.expires_at.value_or(now));
    }
    for (auto each = moments.lower_bound(now); each != moments.end(); ++each) {
        keyed_jobs_model trial = *this;
        if (!trial.claim(queue, "w", 1, 1, aside, *each).empty()) {
            return *each;
        }
    }
    return std::nullopt;
}

std::int64_t keyed_jobs_model::sweep_expired(std::string_view queue, std::int64_t now)
{
    std::int64_t swept = 0;
    for (auto each = live_.begin(); each != live_.end();) {
        const stored_job& job = each->second;
        const bool is_free = !job.held || is_lapsed(job, now);
        const bool is_swept = job.queue == queue && is_free && is_expired(job, now);
        each = is_swept ? bury(each) : std::next(each);
        swept += is_swept ? 1 : 0;
    }
    return swept;
}

keyed_jobs_model::jobs::iterator keyed_jobs_model::find(const job_fence& fence, std::int64_t now)
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

void keyed_jobs_model::free(stored_job& job, std::int64_t delay, std::int64_t now)
{
    job.held.reset();
    set_due(job, now + delay, now);
}

keyed_jobs_model::jobs::iterator keyed_jobs_model::bury(jobs::iterator which)
{
    const stored_job& there = which->second;
    dead_[which->first] =
        line({text(which->first), there.queue, there.payload, text(there.priority), text(there.due),
              text(there.attempts), text(there.max_attempts)});
    return remove(which);
}

keyed_jobs_model::jobs::iterator keyed_jobs_model::remove(jobs::iterator which)
{
    const std::int64_t id = which->first;
    const stored_job gone = which->second;
    stops_.erase(id);
    std::erase_if(unique_,
                  [&](const auto& each) { return each.second.id == id && !each.second.ends_at; });
    const auto next = live_.erase(which);
    const bool is_limit_used = std::any_of(live_.begin(), live_.end(), [&](const auto& each) {
        return each.second.queue == gone.queue && each.second.limit == gone.limit;
    });
    if (gone.limit && !is_limit_used) {
        limits_.erase({gone.queue, *gone.limit});
    }
    return next;
}

bool keyed_jobs_model::ack(const job_fence& fence, std::int64_t now)
{
    const auto found = find(fence, now);
    const bool holds = found != live_.end();
    if (holds) {
        remove(found);
    }
    return holds;
}

retry_outcome keyed_jobs_model::retry(const job_fence& fence, std::int64_t delay, std::int64_t now)
{
    const auto found = find(fence, now);
    if (found == live_.end()) {
        return retry_outcome::stale;
    }
    if (found->second.attempts >= found->second.max_attempts) {
        bury(found);
        return retry_outcome::dead;
    }
    free(found->second, delay, now);
    return retry_outcome::waiting;
}

bool keyed_jobs_model::fail(const job_fence& fence, std::int64_t now)
{
    const auto found = find(fence, now);
    const bool holds = found != live_.end();
    if (holds) {
        bury(found);
    }
    return holds;
}

bool keyed_jobs_model::extend(const job_fence& fence, std::int64_t seconds, std::int64_t now)
{
    const auto found = find(fence, now);
    const bool holds = found != live_.end();
    if (holds) {
        found->second.held->end = now + seconds;
    }
    return holds;
}

bool keyed_jobs_model::release(const job_fence& fence, std::int64_t now)
{
    const auto found = find(fence, now);
    const bool holds = found != live_.end();
    if (holds) {
        found->second.held.reset();
        found->second.is_ready = true;
        ++found->second.max_attempts;
    }
    return holds;
}

bool keyed_jobs_model::snooze(const job_fence& fence, std::int64_t delay, std::int64_t now)
{
    const auto found = find(fence, now);
    const bool holds = found != live_.end();
    if (holds) {
        free(found->second, delay, now);
        ++found->second.max_attempts;
    }
    return holds;
}

bool keyed_jobs_model::cancel(std::string_view queue, std::int64_t id)
{
    const auto found = live_.find(id);
    const bool is_there = found != live_.end() && found->second.queue == queue;
    if (is_there) {
        remove(found);
    }
    return is_there;
}

void keyed_jobs_model::change_all_that_wait(std::string_view queue, std::int64_t priority)
{
    for (auto& [id, job] : live_) {
        if (job.queue == queue && !job.held) {
            job.priority = priority;
        }
    }
}

void keyed_jobs_model::cancel_all(std::string_view queue, std::int64_t priority)
{
    for (auto each = live_.begin(); each != live_.end();) {
        const bool is_meant = each->second.queue == queue && each->second.priority == priority;
        each = is_meant ? remove(each) : std::next(each);
    }
}

bool keyed_jobs_model::request_stop(std::string_view queue, std::int64_t id)
{
    const auto found = live_.find(id);
    if (found == live_.end() || found->second.queue != queue || !found->second.held) {
        return false;
    }
    stops_[id] = found->second.attempts;
    return true;
}

bool keyed_jobs_model::is_stop_requested(std::int64_t id, std::int64_t attempt) const
{
    const auto found = stops_.find(id);
    return found != stops_.end() && found->second == attempt;
}

std::vector<std::string> keyed_jobs_model::live() const
{
    const ids full = blocked();
    std::vector<std::string> lines;
    for (const auto& [id, job] : live_) {
        const std::string state = job.held ? "processing" : job.is_ready ? "pending" : "scheduled";
        lines.push_back(
            line({text(id), job.queue, job.payload, state, text(job.priority), text(job.due),
                  text(job.attempts), text(job.max_attempts), text(job.expires_at),
                  job.held ? job.held->worker : "NULL",
                  text(job.held ? std::optional(job.held->end) : std::nullopt),
                  job.limit.value_or("NULL"), full.count(id) != 0 ? "blocked" : "free"}));
    }
    return lines;
}

std::vector<std::string> keyed_jobs_model::dead() const
{
    std::vector<std::string> lines;
    for (const auto& [id, letter] : dead_) {
        lines.push_back(letter);
    }
    return lines;
}

} // namespace skein::store
