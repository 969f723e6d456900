#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace package_log {

/// This program, run again as a worker. A new process, not a fork: SQLite's files must not be
/// carried over one.
class worker_process {
public:
    worker_process(const std::filesystem::path& database, std::string name);
    worker_process(const worker_process&) = delete;
    worker_process& operator=(const worker_process&) = delete;
    ~worker_process() { kill(); }

    /// SIGKILL: what a power cut, or the kernel that needs memory, leaves of a process.
    void kill() noexcept;

    /// Asks the process to end and waits until it has.
    ///
    /// Throws: when it ended otherwise than asked.
    void stop();

    /// Throws: when the process has ended by itself, which a worker never does.
    void check();

private:
    std::string name_;
    ::pid_t pid_ = 0; ///< 0: ended, and waited for
};

} // namespace package_log
