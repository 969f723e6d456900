#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace skein::runtime {

/// The name of the network file system that Linux knows by this magic number (`statfs`).
[[nodiscard]] std::optional<std::string_view> network_file_system(unsigned long magic) noexcept;

/// The name of the network file system that the file lies on; nothing when it lies on this machine,
/// or when that cannot be told. The file is not opened.
[[nodiscard]] std::optional<std::string_view>
network_file_system_of(const std::filesystem::path& file) noexcept;

} // namespace skein::runtime
