#pragma once

#include <filesystem>
#include <string>

namespace package_log {

/// Processes events until SIGTERM comes: all that one worker process does.
void run_worker(const std::filesystem::path& database, const std::string& name);

} // namespace package_log
