#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace package_log {
namespace {

/// The variable's value, empty when it is not set.
std::string_view environment(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

} // namespace

std::string terminal::paint(std::string_view code, std::string_view text) const
{
    if (!has_colours) {
        return std::string(text);
    }
    return "\x1b[" + std::string(code) + 'm' + std::string(text) + "\x1b[0m";
}

terminal standard_output()
{
    terminal result;
    result.is_terminal = ::isatty(STDOUT_FILENO) != 0;
    result.has_colours = result.is_terminal && environment("NO_COLOR").empty() &&
                         !environment("TERM").empty() && environment("TERM") != "dumb";
    ::winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        result.columns = size.ws_col;
    }
    return result;
}

} // namespace package_log
