#include "api/transport/publish_unit.hpp"

#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "api/transport/message_events.hpp"

namespace skein::api {

namespace {

void check_publication(const transport_state& where, const publication& publication)
{
    checked([&] { store::require_priority("priority", publication.options.priority); });
    require_room(*where.engine, publication.payload, publication.group);
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
        note_published(batch, *where_->source, each.group);
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
        note_published(batch, *where.source, each.group);
    }
}

} // namespace skein::api
