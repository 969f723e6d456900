#pragma once

#include <sys/types.h>

#include <functional>

namespace benchmarks {

/// A copy of this process that does one piece of work. The parent must have no threads and must not
/// have used SQLite: a program that starts children leaves all of that to them.
class child {
public:
    /// `work` runs in the child, which ends with it.
    explicit child(const std::function<void()>& work);
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    /// Kills the child unless it was waited for. It also dies with this process.
    ~child();

    /// Waits for its end. Throws when its work threw (it has printed why), or when it died.
    void wait();

private:
    pid_t id_;
};

/// Does the work in a child, and waits for it.
inline void run_in_child(const std::function<void()>& work)
{
    child(work).wait();
}

} // namespace benchmarks
