#include "extension/watch/interruptible_pause.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace skein::extension {

namespace {

/// The shortest pauses are only asked for where there is a call for them.
int wait_for(pollfd* descriptors, nfds_t count, std::chrono::nanoseconds longest) noexcept
{
#ifdef __linux__
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
    const timespec limit{seconds.count(), (longest - seconds).count()};
    return ppoll(descriptors, count, &limit, nullptr);
#else
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(longest);
    return poll(descriptors, count, static_cast<int>(limit.count()));
#endif
}

} // namespace

interruptible_pause::interruptible_pause()
{
    if (pipe(ends_.data()) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    for (const int each : ends_) {
        fcntl(each, F_SETFD, FD_CLOEXEC);
        fcntl(each, F_SETFL, O_NONBLOCK);
    }
}

interruptible_pause::~interruptible_pause()
{
    close(ends_[0]);
    close(ends_[1]);
}

void interruptible_pause::interrupt() noexcept
{
    // A full pipe interrupts as well as an empty one that is written to.
    [[maybe_unused]] const ssize_t written = write(ends_[1], "", 1);
}

void interruptible_pause::sleep(std::chrono::nanoseconds longest, int descriptor) noexcept
{
    std::array<pollfd, 2> waited{{{ends_[0], POLLIN, 0}, {descriptor, POLLIN, 0}}};
    if (wait_for(waited.data(), waited.size(), longest) > 0 && waited[0].revents != 0) {
        std::array<char, 64> bytes{};
        [[maybe_unused]] const ssize_t taken = read(ends_[0], bytes.data(), bytes.size());
    }
}

} // namespace skein::extension
