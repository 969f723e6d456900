#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"
#include "store/json_text.hpp"

namespace skein::extension {

namespace {

store::streams& streams_of(const call& from)
{
    return from.where().prepared().streams.get();
}

void publish(call& from)
{
    const std::string_view topic = from.text(0);
    const std::optional<std::string_view> key = from.text_or_null(1);
    const std::string_view payload = from.text(2);
    store::require_json(payload);
    from.result(streams_of(from).publish(topic, key, payload, from.now()));
}

json to_json(const store::stream_event& event, std::string_view topic)
{
    return {{"created_at", event.created_at},
            {"key", or_null(event.key)},
            {"offset", event.offset},
            {"payload", event.payload},
            {"topic", topic}};
}

void read_since(call& from)
{
    const std::string_view topic = from.text(0);
    const std::int64_t offset = from.integer(1);
    json all = json::array();
    for (const auto& each : streams_of(from).read_since(topic, offset, from.integer(2))) {
        all.push_back(to_json(each, topic));
    }
    from.result(text_of(all));
}

void save_offset(call& from)
{
    const std::string_view consumer = from.text(0);
    const std::string_view topic = from.text(1);
    from.result(streams_of(from).save_offset(consumer, topic, from.integer(2)));
}

void get_offset(call& from)
{
    const std::string_view consumer = from.text(0);
    from.result(streams_of(from).offset(consumer, from.text(1)));
}

} // namespace

std::vector<function> stream_functions()
{
    return {{"honker_stream_publish", {"topic", "key", "payload"}, publish},
            {"honker_stream_read_since", {"topic", "offset", "limit"}, read_since},
            {"honker_stream_save_offset", {"consumer", "topic", "offset"}, save_offset},
            {"honker_stream_get_offset", {"consumer", "topic"}, get_offset}};
}

} // namespace skein::extension
