#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace skein::extension {

/// Between a thread that has news and one that waits for it: any number of wakes are one, until
/// they are taken. Thread-safety: safe from any thread.
class wake_flag {
public:
    enum class answer { news, nothing, over };

    void wake() noexcept;

    /// There will be no more news. Some that has not been taken yet is still told.
    void end() noexcept;

    /// Nobody is to be told anything any more.
    void close() noexcept;

    /// Takes the news, waiting for it at most `longest`; zero looks only.
    [[nodiscard]] answer wait(std::chrono::milliseconds longest);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_pending_ = false;
    bool is_over_ = false;
};

} // namespace skein::extension
