#pragma once

#include "api/log/log_follower.hpp"
#include "api/log/notification_store.hpp"

#include <skein/listener.hpp>

#include <memory>
#include <optional>

namespace skein::api {

/// What a `listener` refers to.
class listener_place {
public:
    using channel = followed_log<channel_log>;

    listener_place(std::shared_ptr<const channel> log, std::int64_t id)
        : follower_(std::move(log), {id, 0})
    {
    }

    [[nodiscard]] const channel& log() const noexcept { return follower_.log(); }

    /// The next notification; nothing at the limit.
    static asio::awaitable<std::optional<notification>> next(std::shared_ptr<listener_place> self,
                                                             runtime::patience how_long);

    /// Takes a place behind everything that there is now in the channel.
    static asio::awaitable<listener> listen(std::shared_ptr<const channel> log);

private:
    log_follower<channel_log> follower_;
};

} // namespace skein::api
