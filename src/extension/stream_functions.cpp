#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"
#include "extension/retention.hpp"
#include "store/json_text.hpp"
#include "store/saturating.hpp"

namespace skein::extension {

namespace {

store::streams& streams_of(const call& from)
{
    return from.where().prepared().streams;
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

void consumers(call& from)
{
    json all = json::object();
    for (const store::stream_consumer& each : streams_of(from).consumers(from.text(0))) {
        all[each.name] = each.offset;
    }
    from.result(text_of(all));
}

void forget_consumer(call& from)
{
    const std::string_view consumer = from.text(0);
    from.result(streams_of(from).forget_consumer(consumer, from.text(1)));
}

void trim(call& from)
{
    const std::string_view topic = from.text(0);
    const retention wanted = retention_of(from, 1);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(from, [&] {
        store::streams& streams = streams_of(from);
        std::int64_t count = 0;
        if (wanted.older_than) {
            const std::int64_t before = store::saturating_subtract(now, *wanted.older_than);
            count += streams.trim_older(topic, before, all_of_them);
        }
        if (const auto last = wanted.keep ? streams.last_but(topic, *wanted.keep) : std::nullopt) {
            count += streams.trim_through(topic, *last, all_of_them);
        }
        return count;
    }));
}

void trim_passed(call& from)
{
    const std::string_view topic = from.text(0);
    from.result(from.where().atomically(from, [&] {
        store::streams& streams = streams_of(from);
        const std::optional<std::int64_t> last = streams.passed_by_all(topic);
        return last ? streams.trim_through(topic, *last, all_of_them) : 0;
    }));
}

} // namespace

std::vector<function> stream_functions()
{
    return {{"honker_stream_publish", {"topic", "key", "payload"}, publish},
            {"honker_stream_read_since", {"topic", "offset", "limit"}, read_since},
            {"honker_stream_save_offset", {"consumer", "topic", "offset"}, save_offset},
            {"honker_stream_get_offset", {"consumer", "topic"}, get_offset},
            {"skein_stream_consumers", {"topic"}, consumers},
            {"skein_stream_forget_consumer", {"consumer", "topic"}, forget_consumer},
            {"skein_stream_trim", {"topic", "older_than_s", "keep"}, trim},
            {"skein_stream_trim_passed", {"topic"}, trim_passed}};
}

} // namespace skein::extension
