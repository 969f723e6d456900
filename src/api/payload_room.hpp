#pragma once

#include "runtime/engine.hpp"

#include <string_view>

namespace skein::api {

/// Throws `errc::payload_too_large` unless a row has room for the payload, beside the name of what
/// it belongs to, and its key. Looks at no byte of it.
void require_room(const runtime::engine& database, std::string_view payload,
                  std::string_view name = {}, std::string_view key = {});

} // namespace skein::api
