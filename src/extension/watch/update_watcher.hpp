#pragma once

#include "extension/watch/wake_flag.hpp"
#include "extension/watch/watcher_request.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace skein::extension {

class file_watch;

/// Tells a program that others have committed to a database file.
///
/// All watchers of a file in a process share one thread and one connection, which end with the last
/// of them. A file that is not there yet is waited for; one that is deleted or replaced ends its
/// watchers.
///
/// In a child made by fork the watchers of its parent are over; it can open some of its own.
/// Thread-safety: safe from any thread.
class update_watcher {
public:
    using answer = wake_flag::answer;

    /// Returns when it watches: every commit after that is told. Throws `sqlite::error` when the
    /// file cannot be read, and `std::system_error`.
    explicit update_watcher(const watcher_request& request);
    update_watcher(const update_watcher&) = delete;
    update_watcher& operator=(const update_watcher&) = delete;
    ~update_watcher();

    /// Waits until others have committed since the last news, at most `longest`; zero looks only.
    /// Of several threads that wait one gets the news.
    [[nodiscard]] answer wait(std::chrono::milliseconds longest);

    /// Ends the waits there are, and has those to come find that it is over.
    void close() noexcept;

private:
    [[nodiscard]] bool is_left() const noexcept;

    std::shared_ptr<wake_flag> flag_;
    std::shared_ptr<file_watch> watch_;
    std::uint64_t forks_;
};

/// As programs are told it: 1, 0 and -1.
[[nodiscard]] constexpr int code_of(update_watcher::answer answer) noexcept
{
    switch (answer) {
    case update_watcher::answer::news:
        return 1;
    case update_watcher::answer::nothing:
        return 0;
    case update_watcher::answer::over:
        break;
    }
    return -1;
}

} // namespace skein::extension
