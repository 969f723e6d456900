#pragma once

#include <skein/clock.hpp>
#include <skein/payload.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein {

/// An event of a stream, as it is read.
struct stream_event {
    /// Its number: higher than that of every event, of any topic, that was committed before. Those
    /// of one topic have gaps.
    std::int64_t offset = 0;

    /// What it is about, where the publisher has said so. Nothing is done with it.
    std::optional<std::string> key;

    /// The text as it was published, byte for byte.
    std::string payload;

    /// When it was published, by the wall clock, as a whole second.
    clock::wall_time created_at;

    /// The payload as a value, through `payload_codec<Value>` (see <skein/json.hpp>).
    ///
    /// Throws: what the codec throws.
    template <class Value>
    [[nodiscard]] Value value() const
    {
        return payload_codec<Value>::decode(payload);
    }
};

/// One of the events of `stream::publish_many`.
struct new_event {
    /// Any text. Absent: no key.
    std::optional<std::string_view> key = {};

    /// JSON text of any kind, as for `queue::enqueue`.
    std::string_view payload;
};

} // namespace skein
