#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein::extension {

/// How somebody wants to watch a file.
struct watcher_request {
    /// Absolute.
    std::string path;
    /// Whether to look when the system tells that the file has been written to, and seldom
    /// otherwise. Else it looks at the interval.
    bool uses_hints = false;
    std::chrono::milliseconds interval{1};
};

/// Understands what a program says; the interval counts milliseconds. Throws
/// `store::invalid_argument`, also where this system does not have what is wanted.
[[nodiscard]] watcher_request make_watcher_request(std::string_view path,
                                                   std::optional<std::string_view> backend,
                                                   std::optional<std::int64_t> interval);

} // namespace skein::extension
