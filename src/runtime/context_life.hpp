#pragma once

#include "runtime/home_process.hpp"

#include <asio/execution_context.hpp>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace skein::runtime {

class caller;

/// A coroutine's continuation, bound to its executor.
class resumption {
public:
    virtual ~resumption() = default;

    /// Posts the continuation to its executor, with a failure or without.
    virtual void post(std::shared_ptr<resumption> self, std::exception_ptr failure) = 0;

private:
    friend class context_life;

    std::shared_ptr<resumption> next_; ///< in the list of those that are left to the context
};

/// Somebody who must let go of an execution context before it ends.
class context_user {
public:
    virtual ~context_user() = default;
    virtual void context_ended() noexcept = 0;
};

/// The life of one execution context (an `io_context`, a thread pool): whether it can still be
/// posted to, and who has to be told when it ends.
///
/// A database serves coroutines of many contexts and may itself live on another; any of them can
/// be destroyed first. Posting to a destroyed context is a use after free, so every post happens
/// under this object's lock, while the context is known to be alive.
class context_life {
public:
    [[nodiscard]] static std::shared_ptr<context_life> of(asio::execution_context& context);

    /// Tells `user` when the context ends.
    void watch(std::weak_ptr<context_user> user);

    /// Keeps the caller's continuation until it is resumed or the context ends.
    void add(caller& waiting);

    /// Takes the caller off the list and resumes it; nothing when the context has ended.
    void resume(caller& waiting, std::exception_ptr failure);

    /// Takes the caller off the list. While the context ends, its continuation is left to that:
    /// destroying it posts to the context, which must not be shutting down its strands just then.
    void remove(caller& waiting) noexcept;

    /// Keeps the context from destroying the caller's coroutine until `unpin`: a user's code runs
    /// that may refer to it. Returns false when the context has ended. Each is called on the same
    /// thread as the other.
    [[nodiscard]] bool pin();
    void unpin() noexcept;

    /// Called when the context is being destroyed: continuations are destroyed, users told. Waits
    /// for what is pinned.
    void end() noexcept;

private:
    bool unlink(caller& waiting) noexcept;
    void wait_for_pinned() noexcept;

    // Posting to a strand that is shutting down destroys the continuation at once, and what that
    // owns may come back here.
    std::recursive_mutex mutex_;
    std::condition_variable_any unpinned_;
    std::size_t pinned_ = 0;
    const home_process home_; ///< in a child of it nobody unpins
    bool ended_ = false;
    caller* first_ = nullptr;
    std::shared_ptr<resumption> left_; ///< the first of a list
    std::vector<std::weak_ptr<context_user>> users_;
};

} // namespace skein::runtime
