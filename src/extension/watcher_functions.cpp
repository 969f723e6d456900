#include "extension/function.hpp"

#include "extension/watch/fork_guard.hpp"
#include "extension/watch/update_watcher.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace skein::extension {

namespace {

struct numbered_watcher {
    std::shared_ptr<update_watcher> watcher;
    bool is_waited_for = false;
};

/// What the numbers mean that SQL has for watchers, on all connections of the process.
struct numbered_watchers {
    std::map<std::int64_t, numbered_watcher> all;
    std::int64_t last = 0;
};

one_for_each_process<numbered_watchers> watchers;

/// Nothing when there is none, or somebody waits for it already.
std::shared_ptr<update_watcher> begin_wait(std::int64_t id)
{
    const auto no_fork = hold_forks();
    auto& all = watchers.get().all;
    const auto found = all.find(id);
    if (found == all.end() || std::exchange(found->second.is_waited_for, true)) {
        return nullptr;
    }
    return found->second.watcher;
}

void end_wait(std::int64_t id)
{
    const auto no_fork = hold_forks();
    auto& all = watchers.get().all;
    if (const auto found = all.find(id); found != all.end()) {
        found->second.is_waited_for = false;
    }
}

/// Nothing when there is none. It is to be destroyed by somebody who does not hold forks off.
std::shared_ptr<update_watcher> remove(std::int64_t id)
{
    const auto no_fork = hold_forks();
    auto node = watchers.get().all.extract(id);
    return node.empty() ? nullptr : std::move(node.mapped().watcher);
}

void open(call& from)
{
    const std::string_view path = from.text(0);
    const auto backend = from.text_or_null(1);
    const auto interval = from.count() > 2 ? from.integer_or_null(2) : std::nullopt;
    const auto opened =
        std::make_shared<update_watcher>(make_watcher_request(path, backend, interval));
    const auto no_fork = hold_forks();
    numbered_watchers& numbered = watchers.get();
    numbered.all[++numbered.last].watcher = opened;
    from.result(numbered.last);
}

void wait(call& from)
{
    const std::int64_t id = from.integer(0);
    const std::chrono::milliseconds longest{std::max<std::int64_t>(from.integer(1), 0)};
    const std::shared_ptr<update_watcher> waited = begin_wait(id);
    const auto answer = waited ? waited->wait(longest) : update_watcher::answer::over;
    if (waited && answer != update_watcher::answer::over) {
        end_wait(id);
    } else if (waited) {
        static_cast<void>(remove(id));
    }
    from.result(std::int64_t{code_of(answer)});
}

void close(call& from)
{
    if (const auto closed = remove(from.integer(0))) {
        closed->close();
    }
    from.result(true);
}

} // namespace

std::vector<function> watcher_functions()
{
    return {{"honker_update_watcher_open", {"path", "backend"}, open},
            {"honker_update_watcher_open", {"path", "backend", "interval_ms"}, open},
            {"honker_update_watcher_wait", {"id", "timeout_ms"}, wait},
            {"honker_update_watcher_close", {"id"}, close}};
}

} // namespace skein::extension
