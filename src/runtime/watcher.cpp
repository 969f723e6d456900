#include "runtime/watcher.hpp"

namespace skein::runtime {

watcher::watcher(sqlite::connection connection, const home_process& home,
                 std::unique_ptr<alarm> timer, std::chrono::microseconds interval,
                 std::function<void()> changed)
    : version_(connection), home_(home), timer_(std::move(timer)), interval_(interval),
      changed_(std::move(changed))
{
}

void watcher::start()
{
    if (!seen_) {
        seen_ = version_.read();
        arm();
    }
}

void watcher::stop() noexcept
{
    if (seen_) {
        seen_.reset();
        timer_->clear();
    }
}

void watcher::arm()
{
    timer_->set(interval_, [this] { look(); });
}

void watcher::look()
{
    if (home_.is_left()) {
        return;
    }
    const bool is_news = has_changed();
    arm();
    if (is_news) {
        changed_();
    }
}

bool watcher::has_changed()
{
    try {
        const std::int64_t now = version_.read();
        const bool is_news = now != *seen_;
        seen_ = now;
        return is_news;
    } catch (const sqlite::error&) {
        return true; // somebody is writing just now; the number that was seen last stays
    }
}

} // namespace skein::runtime
