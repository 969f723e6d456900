#include "worker/lease_book.hpp"

#include <iterator>
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

std::vector<std::shared_ptr<task>> lease_book::entries(bool& is_empty)
{
    std::vector<std::shared_ptr<task>> found;
    const std::lock_guard lock(mutex_);
    for (auto each = entries_.begin(); each != entries_.end();) {
        std::shared_ptr<task> held = each->second.lock();
        each = held ? std::next(each) : entries_.erase(each);
        if (held) {
            found.push_back(std::move(held));
        }
    }
    is_empty = entries_.empty();
    is_kept_ = !is_empty;
    return found;
}

void lease_book::set_bell(std::unique_ptr<runtime::caller> bell)
{
    const std::lock_guard lock(mutex_);
    bell_ = std::move(bell);
    if (!news_.empty()) {
        ring();
    }
}

void lease_book::tell(std::vector<lease_news> news)
{
    const std::lock_guard lock(mutex_);
    news_.insert(news_.end(), std::make_move_iterator(news.begin()),
                 std::make_move_iterator(news.end()));
    ring();
}

std::vector<lease_news> lease_book::take_news()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

void lease_book::remove_bell()
{
    std::unique_ptr<runtime::caller> removed;
    const std::lock_guard lock(mutex_);
    removed = std::move(bell_);
}

void lease_book::ring()
{
    if (bell_) {
        bell_->resume(nullptr);
        bell_.reset();
    }
}

} // namespace skein::worker
