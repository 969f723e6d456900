#include "api/transport/claim_waiter.hpp"

#include "api/claim_arguments.hpp"
#include "api/misuse.hpp"
#include "api/transport/fence_units.hpp"
#include "runtime/epoch.hpp"

#include <algorithm>
#include <iterator>

namespace skein::api {

namespace {

store::claim_filter make_filter(const claim_options& options)
{
    checked([&] { store::require_priority("min_priority", options.min_priority); });
    store::claim_filter filter;
    filter.min_priority = options.min_priority;
    filter.or_without_key = options.or_without_key;
    if (options.routing_keys) {
        filter.routing_keys.emplace(options.routing_keys->begin(), options.routing_keys->end());
        std::sort(filter.routing_keys->begin(), filter.routing_keys->end());
        filter.routing_keys->erase(
            std::unique(filter.routing_keys->begin(), filter.routing_keys->end()),
            filter.routing_keys->end());
    }
    return filter;
}

/// One text for equal filters, another for every other one. A key is preceded by its length, since
/// it may hold any character.
std::string describe(const std::string& source, bool create_schema,
                     const store::claim_filter& filter)
{
    std::string text = source;
    text += create_schema ? '/' : ':';
    text += static_cast<char>('0' + filter.min_priority);
    if (filter.routing_keys) {
        text += filter.or_without_key ? '+' : '/';
        for (const std::string& key : *filter.routing_keys) {
            text += std::to_string(key.size()) + ':' + key;
        }
    }
    return text;
}

} // namespace

claim_waiter::claim_waiter(std::shared_ptr<const transport_state> where, std::size_t most,
                           const claim_options& options, runtime::patience how_long)
    : waiter(how_long), where_(std::move(where)), most_(checked_most(most)),
      worker_(options.worker.empty() ? where_->engine->worker_id() : std::string(options.worker)),
      filter_(make_filter(options)),
      visibility_(options.visibility ? checked_visibility(*options.visibility)
                                     : where_->visibility),
      accepts_(describe(where_->source->name(), where_->create_schema, filter_))
{
}

bool claim_waiter::has_work(sqlite::connection connection, clock::wall_time now)
{
    return where_->source->has_work(connection, where_->create_schema, filter_,
                                    runtime::to_epoch(now));
}

runtime::serving claim_waiter::serve(runtime::batch& batch, std::span<waiter* const> line)
{
    // Everybody's many would be too many for one call; everybody gets one at least.
    const std::size_t share = std::max<std::size_t>(1, most_at_once / line.size());
    std::vector<store::claim_request> requests;
    for (const waiter* each : line) {
        static_cast<const claim_waiter*>(each)->ask(share, requests);
    }
    store::claim_result found =
        where_->ready(batch).claim(filter_, requests, runtime::to_epoch(batch.now()));
    if (found.has_freed) {
        batch.touch(*where_->source);
    }
    std::span<store::claimed_message> left(found.messages);
    std::size_t served = 0;
    while (!left.empty()) {
        auto& taker = static_cast<claim_waiter&>(*line[served++]);
        left = taker.take(share, left);
        if (batch.is_observed()) {
            batch.note([&taker](runtime::event_sink& told) { taker.tell_claims(told); });
        }
    }
    return {served, found.is_finished};
}

/// Adds what this claim wants, no more than its share.
void claim_waiter::ask(std::size_t share, std::vector<store::claim_request>& requests) const
{
    for (std::size_t left = std::min(most_, share); left > 0; --left) {
        requests.push_back({where_->source->new_lock(worker_), visibility_});
    }
}

/// Takes this claim's share of what was claimed, and returns the others'.
std::span<store::claimed_message> claim_waiter::take(std::size_t share,
                                                     std::span<store::claimed_message> claimed)
{
    const auto mine = claimed.first(std::min({most_, share, claimed.size()}));
    claimed_.assign(std::make_move_iterator(mine.begin()), std::make_move_iterator(mine.end()));
    return claimed.subspan(mine.size());
}

/// Before `committed`, which moves them into their leases.
void claim_waiter::tell_claims(runtime::event_sink& told) const
{
    for (const store::claimed_message& each : claimed_) {
        const message_claimed event{where_->source->name(), each.fence.group_id, each.fence.seq,
                                    worker_};
        told.tell([&](observer& who) { who.on_message_claimed(event); });
    }
}

void claim_waiter::committed()
{
    const std::optional<clock::steady_time> held_since = where_->engine->observed_now();
    result.reserve(claimed_.size());
    for (store::claimed_message& each : claimed_) {
        auto lease = std::make_shared<message_lease>(where_, std::move(each));
        lease->held_since = held_since;
        result.push_back(message_lease::make_message(std::move(lease)));
    }
}

} // namespace skein::api
