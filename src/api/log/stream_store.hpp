#pragma once

#include "api/family_store.hpp"
#include "api/log/log_follower.hpp"
#include "api/seconds.hpp"
#include "runtime/engine.hpp"
#include "store/log/stream_schema.hpp"
#include "store/log/streams.hpp"

#include <skein/stream_event.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skein::api {

using stream_store = table_store<family_tables<store::streams, store::stream_tables>>;

/// What all topics of one database share.
[[nodiscard]] inline std::shared_ptr<stream_store> stream_store_of(runtime::engine& engine)
{
    return engine.source_named<stream_store>("streams");
}

/// A topic as `log_follower` wants it.
struct topic_log {
    using store = stream_store;
    using entry = skein::store::stream_event;

    [[nodiscard]] static skein::store::log_page<entry>
    look(store::statements& there, std::string_view topic, std::int64_t offset, std::int64_t limit)
    {
        return there.look_since(topic, offset, limit);
    }

    [[nodiscard]] static std::int64_t number_of(const entry& read) noexcept { return read.offset; }

    /// One text for each topic that is not the beginning of another's.
    [[nodiscard]] static std::string lines_of(std::string_view topic)
    {
        return "stream " + std::to_string(topic.size()) + ':' + std::string(topic) + '@';
    }
};

/// What a `stream` refers to.
struct stream_state : followed_log<topic_log> {
    [[nodiscard]] const std::string& topic() const noexcept { return name; }

    /// The tables, for writing.
    [[nodiscard]] store::streams& ready(runtime::batch& batch) const
    {
        return followed_log::store->ready(batch, create_schema);
    }
};

/// As users see them.
[[nodiscard]] inline std::vector<stream_event> public_events(std::vector<store::stream_event> found)
{
    std::vector<stream_event> all;
    all.reserve(found.size());
    for (store::stream_event& each : found) {
        all.push_back({each.offset, std::move(each.key), std::move(each.payload),
                       from_seconds(each.created_at)});
    }
    return all;
}

} // namespace skein::api
