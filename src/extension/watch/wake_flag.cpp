#include "extension/watch/wake_flag.hpp"

#include <algorithm>

namespace skein::extension {

namespace {

/// More than anybody waits, and little enough for every clock to add it to the present.
constexpr std::chrono::milliseconds longest_wait = std::chrono::hours{24 * 3650};

} // namespace

void wake_flag::wake() noexcept
{
    const std::lock_guard lock(mutex_);
    is_pending_ = true;
    changed_.notify_one();
}

void wake_flag::end() noexcept
{
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
}

void wake_flag::close() noexcept
{
    const std::lock_guard lock(mutex_);
    is_pending_ = false;
    is_over_ = true;
    changed_.notify_all();
}

wake_flag::answer wake_flag::wait(std::chrono::milliseconds longest)
{
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::min(longest, longest_wait),
                      [this] { return is_pending_ || is_over_; });
    if (is_pending_) {
        is_pending_ = false;
        return answer::news;
    }
    return is_over_ ? answer::over : answer::nothing;
}

} // namespace skein::extension
