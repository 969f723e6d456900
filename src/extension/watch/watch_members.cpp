#include "extension/watch/watch_members.hpp"

#include "extension/watch/watch_pace.hpp"

#include <algorithm>

namespace skein::extension {

void watch_members::remove(const wake_flag& flag) noexcept
{
    std::erase_if(all_, [&](const watch_member& each) { return each.flag.get() == &flag; });
}

void watch_members::wake() const noexcept
{
    for (const watch_member& each : all_) {
        each.flag->wake();
    }
}

bool watch_members::end_lost() noexcept
{
    const auto is_lost = [](const watch_member& each) {
        if (each.file.is_replaced()) {
            each.flag->end();
            return true;
        }
        return false;
    };
    return std::erase_if(all_, is_lost) > 0;
}

bool watch_members::find_file()
{
    for (watch_member& each : all_) {
        each.find_file();
    }
    return std::ranges::all_of(all_, [](const watch_member& each) { return each.file.is_known(); });
}

bool watch_members::use_hints() const noexcept
{
    return std::ranges::any_of(all_,
                               [](const watch_member& each) { return each.request.uses_hints; });
}

std::chrono::milliseconds watch_members::interval() const noexcept
{
    std::chrono::milliseconds shortest = std::chrono::milliseconds::max();
    for (const watch_member& each : all_) {
        shortest =
            std::min(shortest, each.request.uses_hints ? watch_pace::rest : each.request.interval);
    }
    return shortest;
}

} // namespace skein::extension
