#pragma once

#include "log_file.hpp"

#include <skein/json.hpp>
#include <skein/transport.hpp>

#include <chrono>

namespace package_log {

/// The queue that the publisher and the workers share. The visibility is short, so that what a
/// killed worker had in hand comes back soon.
inline constexpr skein::transport_options queue_options{.prefix = "package_log",
                                                        .visibility = std::chrono::seconds(1)};

/// Makes the type a payload. Its group is the package.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(package_event, line, time, action, state, version)

} // namespace package_log
