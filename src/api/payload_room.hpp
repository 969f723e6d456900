#pragma once

#include "runtime/engine.hpp"

#include <cstddef>
#include <string_view>

namespace skein::api {

/// Throws `errc::payload_too_large` unless a row of at most `limit` bytes has room for the payload,
/// beside the name of what it belongs to, and its key. Looks at no byte of it.
void require_room(std::size_t limit, std::string_view payload, std::string_view name = {},
                  std::string_view key = {});

/// The same with the limit of a database.
inline void require_room(const runtime::engine& database, std::string_view payload,
                         std::string_view name = {}, std::string_view key = {})
{
    require_room(database.length_limit(), payload, name, key);
}

} // namespace skein::api
