#pragma once

#include "log_file.hpp"

#include <skein/transport.hpp>

#include <asio/io_context.hpp>

#include <cstddef>
#include <vector>

namespace package_log {

/// Publishes each entry into the group of its package, those of one package in the log's order.
///
/// `published` is raised by each that is in the file for good. `entries` and `published` are used
/// until then.
void start_publishing(asio::io_context& context, const skein::transport& events,
                      const std::vector<log_entry>& entries, std::size_t& published);

} // namespace package_log
