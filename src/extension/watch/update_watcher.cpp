#include "extension/watch/update_watcher.hpp"

#include "extension/watch/file_watch.hpp"
#include "extension/watch/fork_guard.hpp"
#include "sqlite/api.hpp"
#include "store/error.hpp"

#include <filesystem>
#include <map>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace skein::extension {

namespace {

/// By the files' own names.
using watches = std::map<std::string, std::weak_ptr<file_watch>>;

one_for_each_process<watches> all_watches;

/// The watch of the file; another than `ended`, if that is not null.
std::shared_ptr<file_watch> watch_of(const std::string& file,
                                     const std::shared_ptr<file_watch>& ended)
{
    const auto no_fork = hold_forks();
    watches& all = all_watches.get();
    std::shared_ptr<file_watch> found = all[file].lock();
    if (!found || found == ended) {
        std::erase_if(all, [](const auto& each) { return each.second.expired(); });
        found = std::make_shared<file_watch>(file);
        all[file] = found;
    }
    return found;
}

/// What the name leads to, as far as it is there.
std::string own_name(const std::string& path)
{
    std::error_code unknown;
    const std::filesystem::path found = std::filesystem::weakly_canonical(path, unknown);
    return unknown ? path : found.string();
}

void require_threads()
{
    if (sqlite3_threadsafe() == 0) {
        throw store::invalid_argument("a watcher has a thread of its own, and this SQLite was"
                                      " built without support for threads");
    }
}

std::shared_ptr<file_watch> join(const watcher_request& request,
                                 const std::shared_ptr<wake_flag>& flag)
{
    require_threads();
    const std::string file = own_name(request.path);
    std::shared_ptr<file_watch> watch = watch_of(file, nullptr);
    while (!watch->join(request, flag)) {
        watch = watch_of(file, watch);
    }
    return watch;
}

} // namespace

update_watcher::update_watcher(const watcher_request& request)
    : flag_(std::make_shared<wake_flag>()), watch_(join(request, flag_)), forks_(count_forks())
{
}

update_watcher::~update_watcher()
{
    if (is_left()) {
        // What the threads of the parent held at the fork is held here for ever.
        static_cast<void>(new (std::nothrow) std::shared_ptr(std::move(watch_)));
        static_cast<void>(new (std::nothrow) std::shared_ptr(std::move(flag_)));
    } else {
        watch_->leave(*flag_);
    }
}

update_watcher::answer update_watcher::wait(std::chrono::milliseconds longest)
{
    return is_left() ? answer::over : flag_->wait(longest);
}

void update_watcher::close() noexcept
{
    if (!is_left()) {
        flag_->close();
    }
}

bool update_watcher::is_left() const noexcept
{
    return forks_ != count_forks();
}

} // namespace skein::extension
