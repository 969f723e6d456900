#include "api/transport/publish_unit.hpp"

#include "api/transport/message_events.hpp"
#include "api/transport/publication_arguments.hpp"

namespace skein::api {

publish_unit::publish_unit(std::shared_ptr<const transport_state> where,
                           std::span<const publication> publications)
    : where_(std::move(where))
{
    publications_.reserve(publications.size());
    for (const publication& each : publications) {
        check_publication(each, where_->engine->length_limit());
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
        check_publication(each, where.engine->length_limit());
    }
    store::transport& store = where.ready(batch);
    for (const publication& each : publications) {
        store.publish(stored(each, where.fair_turns));
        note_published(batch, *where.source, each.group);
    }
}

} // namespace skein::api
