#include "extension/watch/file_events.hpp"

#include <cerrno>
#include <system_error>

#ifdef __linux__
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#endif

namespace skein::extension {

#ifdef __linux__

file_events::file_events(const std::filesystem::path& database)
    : instance_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      files_({database.string(), database.string() + "-wal", database.string() + "-journal"})
{
    if (instance_ < 0) {
        throw std::system_error(errno, std::generic_category(), "inotify_init1");
    }
    std::ranges::transform(files_, names_.begin(), [](const std::filesystem::path& each) {
        return each.filename().string();
    });
    // What else lies there is written to, too, so that the files are watched for that themselves.
    directory_watch_ =
        inotify_add_watch(instance_, database.parent_path().c_str(),
                          IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR);
    if (directory_watch_ < 0) {
        const int reason = errno;
        close(instance_);
        throw std::system_error(reason, std::generic_category(), "inotify_add_watch");
    }
    watch_files();
}

file_events::~file_events()
{
    close(instance_);
}

bool file_events::are_there() noexcept
{
    return true;
}

/// Of those that are not there the directory will tell.
void file_events::watch_files() noexcept
{
    for (const std::string& each : files_) {
        inotify_add_watch(instance_, each.c_str(), IN_MODIFY);
    }
}

bool file_events::is_ours(const char* name) const noexcept
{
    return std::ranges::find(names_, name) != names_.end();
}

bool file_events::take() noexcept
{
    alignas(inotify_event) std::array<char, 4096> bytes{};
    bool is_any = false;
    bool has_come_or_gone = false;
    ssize_t length = 0;
    while ((length = read(instance_, bytes.data(), bytes.size())) > 0) {
        for (ssize_t at = 0; at < length;) {
            inotify_event event{};
            std::memcpy(&event, bytes.data() + at, sizeof event);
            const char* const name = bytes.data() + at + sizeof event;
            if (event.wd == directory_watch_) {
                has_come_or_gone = has_come_or_gone || (event.len > 0 && is_ours(name));
            } else {
                is_any = true;
                has_come_or_gone = has_come_or_gone || (event.mask & IN_Q_OVERFLOW) != 0;
            }
            at += static_cast<ssize_t>(sizeof event + event.len);
        }
    }
    if (has_come_or_gone) {
        watch_files();
    }
    return is_any || has_come_or_gone;
}

#else

file_events::file_events(const std::filesystem::path& /*database*/)
{
    throw std::system_error(ENOTSUP, std::generic_category(), "inotify");
}

file_events::~file_events() = default;

bool file_events::are_there() noexcept
{
    return false;
}

bool file_events::take() noexcept
{
    return false;
}

#endif

} // namespace skein::extension
