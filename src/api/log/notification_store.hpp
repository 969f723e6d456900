#pragma once

#include "api/family_store.hpp"
#include "runtime/engine.hpp"
#include "store/log/notification_schema.hpp"
#include "store/log/notifications.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace skein::api {

using notification_store =
    table_store<family_tables<store::notifications, store::notification_tables>>;

/// What all channels of one database share.
[[nodiscard]] inline std::shared_ptr<notification_store>
notification_store_of(runtime::engine& engine)
{
    return engine.source_named<notification_store>("notifications");
}

/// A channel as `log_follower` wants it.
struct channel_log {
    using store = notification_store;
    using entry = skein::store::notification;

    [[nodiscard]] static skein::store::log_page<entry>
    look(store::statements& there, std::string_view channel, std::int64_t id, std::int64_t limit)
    {
        return there.look_since(channel, id, limit);
    }

    [[nodiscard]] static std::int64_t number_of(const entry& read) noexcept { return read.id; }

    /// One text for each channel that is not the beginning of another's.
    [[nodiscard]] static std::string lines_of(std::string_view channel)
    {
        return "listen " + std::to_string(channel.size()) + ':' + std::string(channel) + '@';
    }
};

} // namespace skein::api
