#include "api/queue/job_claim_waiter.hpp"

#include "api/claim_arguments.hpp"
#include "api/queue/job_events.hpp"
#include "api/seconds.hpp"
#include "store/saturating.hpp"

#include <algorithm>
#include <iterator>

namespace skein::api {

namespace {

const job_claim_waiter& claim_of(const runtime::waiter* each)
{
    return *static_cast<const job_claim_waiter*>(each);
}

} // namespace

job_claim_waiter::job_claim_waiter(std::shared_ptr<const queue_choice_state> where,
                                   std::size_t most, const job_claim_options& options,
                                   runtime::patience how_long)
    : waiter(how_long), where_(std::move(where)), most_(checked_most(most)),
      worker_(options.worker.empty() ? where_->engine()->worker_id() : std::string(options.worker))
{
    if (options.visibility) {
        visibility_ = checked_visibility(*options.visibility);
    }
}

bool job_claim_waiter::has_work(sqlite::connection connection, clock::wall_time now)
{
    return std::ranges::any_of(where_->queues, [&](const auto& each) {
        queue_statements* const there = each->store->find(connection, each->create_schema);
        // Without tables there is something to do for the claim that follows: it makes them.
        return there == nullptr || there->claimer.has_work(each->name(), to_seconds(now));
    });
}

runtime::serving job_claim_waiter::serve(runtime::batch& batch, std::span<waiter* const> line)
{
    // Everybody's many would be too many for one call; everybody gets one at least.
    const std::size_t share = std::max<std::size_t>(1, most_at_once / line.size());
    runtime::serving all;
    while (all.served < line.size()) {
        const auto rest = line.subspan(all.served);
        const auto other = std::ranges::find_if_not(rest, [&](const waiter* each) {
            return claim_of(each).claims_like(claim_of(rest[0]));
        });
        const auto alike = rest.first(static_cast<std::size_t>(other - rest.begin()));
        const runtime::serving part = serve_alike(batch, alike, share);
        all = {all.served + part.served, part.is_finished};
        if (part.served < alike.size()) {
            break;
        }
    }
    return all;
}

/// Claims for all of those at once.
runtime::serving job_claim_waiter::serve_alike(runtime::batch& batch,
                                               std::span<waiter* const> alike, std::size_t share)
{
    std::size_t wanted = 0;
    for (const waiter* each : alike) {
        wanted += std::min(claim_of(each).most_, share);
    }
    found_jobs found = claim_of(alike[0]).claim(batch, wanted);
    runtime::serving result{0, found.is_finished};
    for (auto next = found.jobs.begin(); next != found.jobs.end(); ++result.served) {
        auto& taker = static_cast<job_claim_waiter&>(*alike[result.served]);
        const auto left = static_cast<std::size_t>(found.jobs.end() - next);
        const auto end = next + static_cast<std::ptrdiff_t>(std::min({taker.most_, share, left}));
        taker.claimed_.assign(std::make_move_iterator(next), std::make_move_iterator(end));
        taker.note_claims(batch);
        next = end;
    }
    return result;
}

/// Whether one statement can claim for both. They are of one line, so they want the same queues.
bool job_claim_waiter::claims_like(const job_claim_waiter& other) const noexcept
{
    return worker_ == other.worker_ &&
           std::ranges::equal(where_->queues, other.where_->queues,
                              [&](const auto& mine, const auto& theirs) {
                                  return visibility_in(*mine) == other.visibility_in(*theirs);
                              });
}

std::int64_t job_claim_waiter::visibility_in(const queue_state& queue) const noexcept
{
    return visibility_.value_or(queue.visibility);
}

/// Takes from the queues in their order, from the next one what the one before did not have.
job_claim_waiter::found_jobs job_claim_waiter::claim(runtime::batch& batch, std::size_t most) const
{
    found_jobs found;
    const std::int64_t now = to_seconds(batch.now());
    for (std::size_t place = 0; place != where_->queues.size() && found.is_finished; ++place) {
        const queue_state& queue = *where_->queues[place];
        store::job_claimer& claimer = queue.ready(batch).claimer;
        store::job_claimer::some_jobs claimed =
            claimer.claim_some({queue.name(), worker_, visibility_in(queue)},
                               static_cast<std::int64_t>(most - found.jobs.size()), now);
        if (claimer.may_have_buried()) {
            batch.touch(*queue.store);
        }
        note_buried(batch, *queue.source, claimer.buried());
        for (store::claimed_job& each : claimed.jobs) {
            found.jobs.push_back({place, std::move(each)});
        }
        found.is_finished = claimed.is_finished;
        if (found.jobs.size() == most) {
            break;
        }
    }
    return found;
}

void job_claim_waiter::note_claims(runtime::batch& batch) const
{
    if (batch.is_observed()) {
        batch.note([this](runtime::event_sink& told) { tell_claims(told); });
    }
}

/// Before `committed`, which moves them into their leases.
void job_claim_waiter::tell_claims(runtime::event_sink& told) const
{
    for (const found_job& each : claimed_) {
        const store::claimed_job& job = each.job;
        job_claimed event;
        event.queue = where_->queues[each.queue]->name();
        event.id = job.fence.id;
        event.attempt = *job.fence.attempts;
        event.max_attempts = job.max_attempts;
        event.worker = job.fence.worker_id;
        event.waited = std::chrono::seconds{
            std::max<std::int64_t>(store::saturating_subtract(job.claimed_at, job.run_at), 0)};
        told.tell([&](observer& who) { who.on_job_claimed(event); });
    }
}

void job_claim_waiter::committed()
{
    const std::optional<clock::steady_time> held_since = where_->engine()->observed_now();
    result.reserve(claimed_.size());
    for (found_job& each : claimed_) {
        auto lease = std::make_shared<job_lease>(where_->queues[each.queue], std::move(each.job));
        lease->held_since = held_since;
        result.push_back(job_lease::make_job(std::move(lease)));
    }
}

} // namespace skein::api
