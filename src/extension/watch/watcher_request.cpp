#include "extension/watch/watcher_request.hpp"

#include "extension/watch/file_events.hpp"
#include "store/error.hpp"

#include <algorithm>
#include <filesystem>

namespace skein::extension {

namespace {

/// So that every clock can add it to the present.
constexpr std::int64_t longest_interval = std::chrono::milliseconds(std::chrono::hours{24}).count();

std::string absolute(std::string_view path)
{
    if (path.empty() || path == ":memory:") {
        throw store::invalid_argument("a watcher needs the path of a database file; a database in"
                                      " memory has no other connections to watch");
    }
    if (path.starts_with("file:")) {
        throw store::invalid_argument("a watcher needs the path of a database file, not a URI; a"
                                      " file of that name is ./file:...");
    }
    if (path.find('\0') != std::string_view::npos) {
        throw store::invalid_argument("the path of a watcher contains a NUL");
    }
    return std::filesystem::absolute(path).string();
}

bool uses_hints(std::string_view backend)
{
    if (backend.empty() || backend == "polling" || backend == "poll") {
        return false;
    }
    if (backend == "kernel" || backend == "kernel-watcher") {
        if (!file_events::are_there()) {
            throw store::invalid_argument("watcher backend 'kernel' needs inotify, which this"
                                          " system does not have; use 'polling'");
        }
        return true;
    }
    if (backend == "shm" || backend == "shm-fast-path") {
        throw store::invalid_argument("watcher backend 'shm' is not offered; use 'polling', or"
                                      " 'kernel' to be told sooner");
    }
    throw store::invalid_argument("unknown watcher backend \"" + std::string(backend) +
                                  "\"; valid: None, 'polling', 'kernel', 'shm'");
}

} // namespace

watcher_request make_watcher_request(std::string_view path, std::optional<std::string_view> backend,
                                     std::optional<std::int64_t> interval)
{
    watcher_request request;
    request.path = absolute(path);
    request.uses_hints = uses_hints(backend.value_or(""));
    if (interval) {
        if (*interval <= 0) {
            throw store::invalid_argument("watcher poll interval must be positive");
        }
        request.interval = std::chrono::milliseconds{std::min(*interval, longest_interval)};
    }
    return request;
}

} // namespace skein::extension
