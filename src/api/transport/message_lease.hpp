#pragma once

#include "api/transport/transport_state.hpp"

#include <skein/message.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace skein::api {

/// What a `message` handle refers to.
struct message_lease {
    message_lease(std::shared_ptr<const transport_state> owner, store::claimed_message claimed)
        : transport(std::move(owner)), fence(std::move(claimed.fence)),
          payload(std::move(claimed.payload)), expires_at(claimed.expires_at)
    {
    }

    [[nodiscard]] static message make_message(std::shared_ptr<message_lease> lease)
    {
        return message(std::move(lease));
    }

    /// Null for an empty handle.
    [[nodiscard]] static const std::shared_ptr<message_lease>& of(const message& handle) noexcept
    {
        return handle.lease_;
    }

    const std::shared_ptr<const transport_state> transport;
    const store::message_fence fence;
    const std::string payload;
    std::atomic<double> expires_at; ///< epoch seconds
    /// When it was handed out, where somebody observes; written before the handle is there.
    std::optional<clock::steady_time> held_since;
    /// Whether dropping the handle leaves the lease alone: it is over, or the work is done.
    std::atomic<bool> is_kept = false;
};

} // namespace skein::api
