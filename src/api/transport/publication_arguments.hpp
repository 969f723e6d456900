#pragma once

#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "store/transport/transport.hpp"

#include <skein/transport.hpp>

#include <cstddef>

namespace skein::api {

/// `length_limit`: of a row, in bytes. Throws `errc::invalid_argument` and
/// `errc::payload_too_large`.
inline void check_publication(const publication& wanted, std::size_t length_limit)
{
    checked([&] { store::require_priority("priority", wanted.options.priority); });
    require_room(length_limit, wanted.payload, wanted.group);
}

/// As the store takes it: a view.
[[nodiscard]] inline store::new_message stored(const publication& wanted, bool fair_turns)
{
    return {wanted.group, wanted.payload, wanted.options.priority, wanted.options.routing_key,
            fair_turns};
}

} // namespace skein::api
