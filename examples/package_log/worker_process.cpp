#include "worker_process.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace package_log {
namespace {

std::string how_it_ended(int status)
{
    return WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                               : "ended with status " + std::to_string(WEXITSTATUS(status));
}

int wait_for(::pid_t pid)
{
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

} // namespace

worker_process::worker_process(const std::filesystem::path& database, std::string name)
    : name_(std::move(name))
{
    std::string program = "/proc/self/exe";
    std::string role = "--worker";
    std::string path = database.string();
    const std::array<char*, 5> arguments{program.data(), role.data(), path.data(), name_.data(),
                                         nullptr};
    const int failure =
        ::posix_spawn(&pid_, program.c_str(), nullptr, nullptr, arguments.data(), environ);
    if (failure != 0) {
        throw std::system_error(failure, std::generic_category(), program);
    }
}

void worker_process::kill() noexcept
{
    if (pid_ != 0) {
        ::kill(pid_, SIGKILL);
        wait_for(pid_);
        pid_ = 0;
    }
}

void worker_process::stop()
{
    ::kill(pid_, SIGTERM);
    const int status = wait_for(pid_);
    pid_ = 0;
    // One that was started a moment ago may not have come to expect the signal.
    const bool was_early = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    if (status != 0 && !was_early) {
        throw std::runtime_error(name_ + ' ' + how_it_ended(status));
    }
}

void worker_process::check()
{
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = 0;
        throw std::runtime_error(name_ + ' ' + how_it_ended(status));
    }
}

} // namespace package_log
