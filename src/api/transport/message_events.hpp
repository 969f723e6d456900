#pragma once

#include "api/transport/transport_state.hpp"

#include <skein/observer.hpp>

#include <optional>
#include <string_view>

namespace skein::api {

/// A claim of a message, for who has to finish it.
struct held_message {
    const transport_state& transport;
    const store::message_fence& fence;
    /// See `message_lease`; unknown where there is only the fence.
    std::optional<clock::steady_time> since = {};
};

// Tell the observer, if there is one, what has happened to messages in the batch. The transport's
// name is kept by its source, which the engine keeps.

void note_published(runtime::batch& batch, const transport_source& transport,
                    std::string_view group);

void note_acked(runtime::batch& batch, const held_message& claim);

/// `delay` in seconds.
void note_nacked(runtime::batch& batch, const held_message& claim, double delay);

/// `verb` is a literal.
void note_message_lost(runtime::batch& batch, const held_message& claim, std::string_view verb);

} // namespace skein::api
