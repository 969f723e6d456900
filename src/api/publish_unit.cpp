#include "api/publish_unit.hpp"

#include "api/misuse.hpp"

namespace skein::api {

namespace {

// A row holds more than the payload: the group's name, the lock, and SQLite's own record header.
constexpr std::size_t row_overhead = 1024;

void check_publication(const transport_state& where, const publication& publication)
{
    checked([&] { store::require_priority("priority", publication.options.priority); });
    const std::size_t limit = where.engine->length_limit();
    if (publication.payload.size() + publication.group.size() + row_overhead > limit) {
        throw error(errc::payload_too_large,
                    "payload: " + std::to_string(publication.payload.size()) + " bytes; at most " +
                        std::to_string(limit - row_overhead) +
                        " bytes are accepted, the group's name included");
    }
}

} // namespace

publish_unit::publish_unit(std::shared_ptr<const transport_state> where,
                           std::span<const publication> publications)
    : where_(std::move(where))
{
    publications_.reserve(publications.size());
    for (const publication& each : publications) {
        check_publication(*where_, each);
        publications_.push_back({std::string(each.group), std::string(each.payload),
                                 each.options.priority,
                                 std::optional<std::string>(each.options.routing_key)});
    }
}

void publish_unit::run(runtime::batch& batch)
{
    store::transport& store = where_->ready(batch);
    for (const owned_publication& each : publications_) {
        store.publish(
            {each.group, each.payload, each.priority, each.routing_key, where_->fair_turns});
    }
    batch.touch(*where_->source);
}

void publish(const transport_state& where, runtime::batch& batch,
             std::span<const publication> publications)
{
    for (const publication& each : publications) {
        check_publication(where, each);
    }
    store::transport& store = where.ready(batch);
    for (const publication& each : publications) {
        store.publish({each.group, each.payload, each.options.priority, each.options.routing_key,
                       where.fair_turns});
    }
}

} // namespace skein::api
