#pragma once

#include <skein/clock.hpp>
#include <skein/payload.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace skein {

/// What a listener gets.
struct notification {
    /// Its number: higher than that of every earlier notification on any channel. Those of one
    /// channel have gaps.
    std::int64_t id = 0;

    /// The text as it was given, byte for byte.
    std::string payload;

    /// When it was made, by the wall clock, as a whole second.
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

/// How the notifications of a file are kept.
struct notification_options {
    /// Whether to create the tables at the first use. False leaves the schema to somebody else (see
    /// <skein/schema.hpp>): the first use fails when the tables are not there. On tables without
    /// what skein adds to them a listener is not told that it has lagged.
    bool create_schema = true;
};

/// Which notifications `database::prune_notifications` leaves; at least one of both is given.
struct notification_retention {
    /// Those that were made no longer than this ago: zero or more. Absent: of any age.
    std::optional<std::chrono::seconds> older_than = {};

    /// At most so many, the last ones of all channels together; zero means none. Absent: any
    /// number.
    std::optional<std::size_t> keep = {};
};

} // namespace skein
