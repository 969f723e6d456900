#pragma once

#include <array>
#include <chrono>

namespace skein::extension {

/// A sleep that another thread, or a descriptor that becomes readable, can end.
class interruptible_pause {
public:
    /// Throws `std::system_error` when the process has no descriptors left.
    interruptible_pause();
    interruptible_pause(const interruptible_pause&) = delete;
    interruptible_pause& operator=(const interruptible_pause&) = delete;
    ~interruptible_pause();

    /// Ends the pause that there is, or else the next one. Safe from any thread.
    void interrupt() noexcept;

    /// Sleeps. `descriptor` may be -1, for none.
    void sleep(std::chrono::nanoseconds longest, int descriptor) noexcept;

private:
    std::array<int, 2> ends_{-1, -1};
};

} // namespace skein::extension
