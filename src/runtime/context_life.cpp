#include "runtime/context_life.hpp"

#include "runtime/caller.hpp"

#include <algorithm>

namespace skein::runtime {

namespace {

/// How asio tells that a context ends: it shuts its services down before it frees anything.
class life_service final : public asio::execution_context::service {
public:
    using key_type = life_service;
    static asio::execution_context::id id;

    explicit life_service(asio::execution_context& owner) : service(owner) {}

    void shutdown() override { life->end(); }

    const std::shared_ptr<context_life> life = std::make_shared<context_life>();
};

asio::execution_context::id life_service::id;

} // namespace

std::shared_ptr<context_life> context_life::of(asio::execution_context& context)
{
    return asio::use_service<life_service>(context).life;
}

void context_life::watch(std::weak_ptr<context_user> user)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(users_, [](const auto& each) { return each.expired(); });
    users_.push_back(std::move(user));
}

void context_life::add(caller& waiting)
{
    const std::lock_guard lock(mutex_);
    if (ended_) {
        return;
    }
    waiting.next_ = first_;
    if (first_ != nullptr) {
        first_->previous_ = &waiting;
    }
    first_ = &waiting;
    waiting.is_listed_ = true;
}

void context_life::resume(caller& waiting, std::exception_ptr failure)
{
    const std::lock_guard lock(mutex_);
    if (!ended_ && unlink(waiting)) {
        std::shared_ptr<resumption> continuation = std::move(waiting.continuation_);
        resumption& target = *continuation;
        target.post(std::move(continuation), std::move(failure));
    }
}

void context_life::remove(caller& waiting) noexcept
{
    const std::lock_guard lock(mutex_);
    if (unlink(waiting) && ended_) {
        waiting.continuation_->next_ = std::move(left_);
        left_ = std::move(waiting.continuation_);
    }
}

bool context_life::pin()
{
    const std::lock_guard lock(mutex_);
    pinned_ += ended_ ? 0U : 1U;
    return !ended_;
}

void context_life::unpin() noexcept
{
    const std::lock_guard lock(mutex_);
    --pinned_;
    unpinned_.notify_all();
}

void context_life::wait_for_pinned() noexcept
{
    std::unique_lock lock(mutex_);
    unpinned_.wait(lock, [this] { return pinned_ == 0 || home_.is_left(); });
}

void context_life::end() noexcept
{
    // What is let go of may call back into this object, so it goes outside the lock.
    std::vector<std::weak_ptr<context_user>> users;
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        users.swap(users_);
    }
    for (const auto& each : users) {
        if (const std::shared_ptr<context_user> user = each.lock()) {
            user->context_ended();
        }
    }
    wait_for_pinned();
    std::shared_ptr<resumption> forgotten;
    do {
        forgotten.reset();
        const std::lock_guard lock(mutex_);
        if (first_ != nullptr) {
            forgotten = std::move(first_->continuation_);
            first_->is_gone_ = true;
            unlink(*first_);
        } else if (left_ != nullptr) {
            forgotten = std::move(left_);
            left_ = std::move(forgotten->next_);
        }
    } while (forgotten);
}

bool context_life::unlink(caller& waiting) noexcept
{
    if (!waiting.is_listed_) {
        return false;
    }
    waiting.is_listed_ = false;
    if (waiting.previous_ != nullptr) {
        waiting.previous_->next_ = waiting.next_;
    } else {
        first_ = waiting.next_;
    }
    if (waiting.next_ != nullptr) {
        waiting.next_->previous_ = waiting.previous_;
    }
    waiting.previous_ = nullptr;
    waiting.next_ = nullptr;
    return true;
}

} // namespace skein::runtime
