#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace package_log {

/// What a line of the log tells of a package. This is the payload of a message, see queue.hpp.
struct package_event {
    std::int64_t line = 0;
    std::string time;
    std::string action;  ///< "status", or what dpkg was about to do: "install", "remove", …
    std::string state;   ///< of a "status" line: what the package is now; empty otherwise
    std::string version; ///< of a "status" line: the version that is in that state
};

struct log_entry {
    std::string package; ///< with its architecture, "libc6:amd64"; the group of the message
    package_event event;
};

/// dpkg's log, as dpkg(1) describes it. An event is a line that names a package; those of a run's
/// beginning ("startup") and of configuration files ("conffile") do not.
struct log_file {
    std::filesystem::path path;
    std::uintmax_t size = 0;
    std::vector<log_entry> entries;
    std::size_t malformed = 0; ///< lines that are none of dpkg's
    std::int64_t first_malformed = 0;
};

/// The input cannot be used; the text says which and why.
struct input_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws: `input_error` when the file cannot be read or is no log of dpkg's.
[[nodiscard]] log_file read_log(const std::filesystem::path& path);

} // namespace package_log
