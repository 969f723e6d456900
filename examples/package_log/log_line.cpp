#include "log_line.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace package_log {
namespace {

using namespace std::string_view_literals;

constexpr std::array states{
    "not-installed"sv,   "config-files"sv,     "half-installed"sv,   "unpacked"sv,
    "half-configured"sv, "triggers-awaited"sv, "triggers-pending"sv, "installed"sv,
};
constexpr std::array actions{
    "install"sv, "upgrade"sv, "configure"sv, "trigproc"sv, "remove"sv, "purge"sv, "disappear"sv,
};

template <std::size_t Size>
bool is_one_of(std::string_view word, const std::array<std::string_view, Size>& words)
{
    return std::ranges::find(words, word) != words.end();
}

/// Whether the text looks like the pattern, in which 0 stands for any digit.
bool looks_like(std::string_view pattern, std::string_view text)
{
    return std::ranges::equal(pattern, text, [](char expected, char found) {
        return expected == '0' ? found >= '0' && found <= '9' : found == expected;
    });
}

/// Names, architectures and versions have visible ASCII characters only; `<none>` among them.
bool is_word(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

std::vector<std::string_view> split(std::string_view text)
{
    std::vector<std::string_view> words;
    std::size_t begin = 0;
    for (std::size_t end = text.find(' '); end != std::string_view::npos;
         end = text.find(' ', begin)) {
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    words.push_back(text.substr(begin));
    return words;
}

} // namespace

parsed_line parse_line(std::string_view text)
{
    if (text.ends_with('\r')) {
        text.remove_suffix(1);
    }
    if (text.empty()) {
        return {.kind = line_kind::other, .entry = {}};
    }
    const std::vector<std::string_view> words = split(text);
    if (words.size() < 5 || !looks_like("0000-00-00", words[0]) ||
        !looks_like("00:00:00", words[1])) {
        return {};
    }
    const std::string_view verb = words[2];
    if (verb == "startup" || verb == "conffile") {
        return {.kind = line_kind::other, .entry = {}};
    }
    const bool is_status = verb == "status" && is_one_of(words[3], states);
    if (words.size() != 6 || !(is_status || is_one_of(verb, actions)) ||
        !std::ranges::all_of(words, is_word)) {
        return {};
    }
    package_event event{
        .line = 0, .time = {}, .action = std::string(verb), .state = {}, .version = {}};
    event.time = std::string(words[0]) + ' ' + std::string(words[1]);
    if (is_status) {
        event.state = words[3];
        event.version = words[5];
    }
    return {.kind = line_kind::package,
            .entry = {.package = std::string(words[is_status ? 4 : 3]), .event = std::move(event)}};
}

} // namespace package_log
