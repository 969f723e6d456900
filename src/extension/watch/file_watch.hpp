#pragma once

#include "extension/watch/file_events.hpp"
#include "extension/watch/interruptible_pause.hpp"
#include "extension/watch/watch_members.hpp"
#include "extension/watch/watch_pace.hpp"
#include "extension/watch/watched_file.hpp"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace skein::extension {

/// A thread that watches one file, with one connection, for all who want to know: they join, and
/// leave again. The thread begins with the first and ends when there are none.
///
/// It is not to be destroyed while somebody has joined. Thread-safety: safe from any thread, but
/// not in a child made by fork.
class file_watch {
public:
    /// `path` is the file's own name, to which those of the requests lead.
    explicit file_watch(std::string path) : path_(std::move(path)), file_(path_) {}
    file_watch(const file_watch&) = delete;
    file_watch& operator=(const file_watch&) = delete;
    ~file_watch();

    /// From its return on, the flag is woken after every commit, and ended when the name of the
    /// request leads to another file or to none. Returns false when the thread has ended already:
    /// then nothing has happened. Throws `sqlite::error`, but not for locks, and
    /// `std::system_error`.
    [[nodiscard]] bool join(const watcher_request& request, const std::shared_ptr<wake_flag>& flag);

    /// The flag is not touched any more.
    void leave(const wake_flag& flag) noexcept;

private:
    /// Somebody who waits in `join`.
    struct newcomer {
        watch_member wanted;
        bool is_decided = false;
        std::exception_ptr refusal;
    };
    using newcomers = std::vector<newcomer*>;

    void run() noexcept;
    void go_round(newcomers waiting) noexcept;
    [[nodiscard]] bool look(const newcomers& waiting, std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool is_file_found(const newcomers& waiting);
    [[nodiscard]] bool has_lost_file(bool is_asked) noexcept;
    void prepare_hints(newcomers& waiting) noexcept;
    void admit(const newcomers& waiting) noexcept;
    void decide(newcomer& decided, std::exception_ptr refusal = nullptr) noexcept;
    void rest(std::unique_lock<std::mutex>& lock) noexcept;

    std::mutex mutex_;
    std::condition_variable decided_;
    newcomers waiting_;
    watch_members members_;
    bool is_over_ = false;
    std::thread thread_;
    interruptible_pause pause_;

    // The thread's own.
    std::string path_;
    watched_file file_;
    std::optional<file_events> hints_;
    watch_pace pace_;
    watch_pace::time next_check_{};
};

} // namespace skein::extension
