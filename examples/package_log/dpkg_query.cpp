#include "dpkg_query.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace package_log {
namespace {

constexpr int command_not_found = 127;

// The architecture is asked for by itself: dpkg-query's own names leave it out for most packages,
// and the log never does.
constexpr const char* command =
    "dpkg-query -W -f='${Package}:${Architecture} ${db:Status-Status} ${Version}\\n' 2>/dev/null";

/// What the command prints, and its exit status.
std::pair<std::string, int> run()
{
    std::FILE* pipe = ::popen(command, "r");
    if (pipe == nullptr) {
        throw std::runtime_error("dpkg-query cannot be started");
    }
    std::string output;
    std::array<char, 4096> buffer{};
    while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        output.append(buffer.data(), size);
    }
    const int status = ::pclose(pipe);
    return {std::move(output), WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

} // namespace

std::optional<ledger::package_states> ask_dpkg()
{
    const auto [output, status] = run();
    if (status == command_not_found) {
        return std::nullopt;
    }
    if (status != 0) {
        throw std::runtime_error("dpkg-query failed with status " + std::to_string(status));
    }
    ledger::package_states packages;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string package;
        ledger::package_state state;
        words >> package >> state.state >> state.version; // the version may be empty
        if (state.state != "not-installed") {
            packages[package] = state;
        }
    }
    return packages;
}

} // namespace package_log
