#include "api/log/publish_events.hpp"

#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "store/json_text.hpp"

#include <skein/observer.hpp>

namespace skein::api {

publish_events::publish_events(std::shared_ptr<const stream_state> where,
                               std::span<const new_event> events)
    : where_(std::move(where))
{
    events_.reserve(events.size());
    for (const new_event& each : events) {
        require_room(*where_->engine, each.payload, where_->topic(), each.key.value_or(""));
        checked([&] { store::require_json(each.payload); });
        events_.push_back({std::optional<std::string>(each.key), std::string(each.payload)});
    }
}

void publish_events::run(runtime::batch& batch)
{
    store::streams& there = where_->ready(batch);
    const std::int64_t now = to_seconds(batch.now());
    result.clear();
    for (const owned_event& each : events_) {
        result.push_back(there.publish(where_->topic(), each.key, each.payload, now));
    }
    batch.touch_lines(topic_log::lines_of(where_->topic()));
    if (batch.is_observed()) {
        batch.note([where = where_, offsets = result](runtime::event_sink& told) {
            for (const std::int64_t offset : offsets) {
                told.tell([&](observer& who) { who.on_event_published({where->topic(), offset}); });
            }
        });
    }
}

} // namespace skein::api
