#include "extension/watch/quiet_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace skein::extension {

namespace {

/// Keeps signals from this thread, and from those that it starts. Not those that tell of a crash:
/// blocked, they would kill the process without a word.
class signals_blocked {
public:
    signals_blocked() noexcept
    {
        sigset_t blocked;
        sigfillset(&blocked);
        for (const int crash : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
            sigdelset(&blocked, crash);
        }
        pthread_sigmask(SIG_SETMASK, &blocked, &before_);
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

} // namespace

std::thread start_quiet_thread(std::function<void()> work)
{
    const signals_blocked meanwhile;
    std::thread started(std::move(work));
#ifdef __linux__
    pthread_setname_np(started.native_handle(), "skein-watch");
#endif
    return started;
}

} // namespace skein::extension
