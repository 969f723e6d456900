#include "api/claim_waiter.hpp"

#include "api/fence_units.hpp"
#include "api/misuse.hpp"
#include "runtime/epoch.hpp"

#include <algorithm>

namespace skein::api {

namespace {

store::claim_filter make_filter(const claim_options& options)
{
    checked([&] { store::require_priority("min_priority", options.min_priority); });
    store::claim_filter filter;
    filter.min_priority = options.min_priority;
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
        text += '/';
        for (const std::string& key : *filter.routing_keys) {
            text += std::to_string(key.size()) + ':' + key;
        }
    }
    return text;
}

} // namespace

claim_waiter::claim_waiter(std::shared_ptr<const transport_state> where,
                           const claim_options& options, runtime::patience how_long)
    : waiter(how_long), where_(std::move(where)),
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

std::size_t claim_waiter::serve(runtime::batch& batch, std::span<waiter* const> line)
{
    std::vector<std::string> locks;
    std::vector<store::claim_request> requests;
    locks.reserve(line.size());
    requests.reserve(line.size());
    for (waiter* each : line) {
        const auto& claim = static_cast<const claim_waiter&>(*each);
        locks.push_back(where_->source->new_lock(claim.worker_));
        requests.push_back({locks.back(), claim.visibility_});
    }
    std::vector<store::claimed_message> claimed =
        where_->ready(batch).claim(filter_, requests, runtime::to_epoch(batch.now()));
    for (std::size_t each = 0; each < claimed.size(); ++each) {
        static_cast<claim_waiter&>(*line[each]).claimed_ = std::move(claimed[each]);
    }
    return claimed.size();
}

void claim_waiter::committed()
{
    result =
        message_lease::make_message(std::make_shared<message_lease>(where_, *std::move(claimed_)));
}

} // namespace skein::api
