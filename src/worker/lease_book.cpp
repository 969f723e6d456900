#include "worker/lease_book.hpp"

#include <utility>

namespace skein::worker {

bool lease_book::add(const std::shared_ptr<task>& held)
{
    const std::lock_guard lock(mutex_);
    entries_.emplace(held.get(), held);
    return !std::exchange(is_kept_, true);
}

void lease_book::remove(const task& ended)
{
    const std::lock_guard lock(mutex_);
    entries_.erase(&ended);
}

bool lease_book::set_keeper(const std::shared_ptr<runtime::operation>& keeper)
{
    const std::lock_guard lock(mutex_);
    keeper_ = keeper;
    return !is_closed_;
}

std::vector<std::shared_ptr<task>> lease_book::entries()
{
    std::vector<std::shared_ptr<task>> found;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) {
        if (std::shared_ptr<task> held = entry.lock()) {
            found.push_back(std::move(held));
        }
    }
    return found;
}

bool lease_book::end_if_empty()
{
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const auto& each) { return each.second.expired(); });
    is_kept_ = !entries_.empty();
    return !is_kept_;
}

void lease_book::set_bell(std::unique_ptr<runtime::caller> bell)
{
    const std::lock_guard lock(mutex_);
    bell_ = std::move(bell);
    if (!news_.empty() || failure_) {
        ring();
    }
}

void lease_book::tell(const std::vector<lease_news>& news)
{
    for (const lease_news& each : news) {
        if (const auto lost = each.about.lock()) {
            lost->note_lost();
        }
    }
    const std::lock_guard lock(mutex_);
    news_.insert(news_.end(), news.begin(), news.end());
    ring();
}

std::vector<lease_news> lease_book::take_news()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

void lease_book::tell_failure(const std::exception_ptr& failure)
{
    const std::lock_guard lock(mutex_);
    if (!is_closed_) {
        failure_ = failure;
        ring();
    }
}

std::exception_ptr lease_book::take_failure()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(failure_, nullptr);
}

std::shared_ptr<runtime::operation> lease_book::close()
{
    std::unique_ptr<runtime::caller> removed; // ends outside the lock
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    removed = std::move(bell_);
    return keeper_.lock();
}

void lease_book::ring()
{
    if (bell_) {
        bell_->resume(nullptr);
        bell_.reset();
    }
}

} // namespace skein::worker
