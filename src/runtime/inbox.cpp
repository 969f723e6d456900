#include "runtime/inbox.hpp"

#include <utility>

namespace skein::runtime {

bool inbox::put(std::shared_ptr<operation> arrived)
{
    const std::lock_guard lock(mutex_);
    if (is_shut_) {
        return false;
    }
    contents_.arrived.push_back(std::move(arrived));
    wake_once();
    return true;
}

void inbox::put_cancellation(std::weak_ptr<operation> cancelled)
{
    const std::lock_guard lock(mutex_);
    if (!is_shut_) {
        contents_.cancelled.push_back(std::move(cancelled));
        wake_once();
    }
}

bool inbox::put_closing(std::shared_ptr<operation> closing)
{
    const std::lock_guard lock(mutex_);
    if (is_finished_) {
        return false;
    }
    is_shut_ = true;
    contents_.closings.push_back(std::move(closing));
    wake_once();
    return true;
}

void inbox::call_again()
{
    const std::lock_guard lock(mutex_);
    if (!is_finished_) {
        wake_once();
    }
}

inbox::contents inbox::take()
{
    const std::lock_guard lock(mutex_);
    is_awake_ = false;
    return std::exchange(contents_, {});
}

inbox::contents inbox::finish()
{
    const std::lock_guard lock(mutex_);
    is_shut_ = true;
    is_finished_ = true;
    return std::exchange(contents_, {});
}

void inbox::wake_once()
{
    if (!is_awake_) {
        is_awake_ = true;
        wake_();
    }
}

} // namespace skein::runtime
