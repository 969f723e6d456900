#include "worker_process.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

extern char** environ;

namespace package_log {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 10s;

std::string how_it_ended(int status)
{
    return WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                               : "ended with status " + std::to_string(WEXITSTATUS(status));
}

/// The process's status, once it has ended; nothing while it runs.
std::optional<int> status_of(::pid_t pid, int options)
{
    int status = 0;
    ::pid_t answer = 0;
    do {
        answer = ::waitpid(pid, &status, options);
    } while (answer < 0 && errno == EINTR);
    return answer == pid ? std::optional(status) : std::nullopt;
}

} // namespace

worker_process::worker_process(const std::filesystem::path& database, std::string name)
    : name_(std::move(name))
{
    std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
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
        status_of(pid_, 0);
        pid_ = 0;
    }
}

void worker_process::stop()
{
    ::kill(pid_, SIGTERM);
    const auto begin = std::chrono::steady_clock::now();
    std::optional<int> status;
    while (!(status = status_of(pid_, WNOHANG))) {
        if (std::chrono::steady_clock::now() - begin > patience) {
            throw std::runtime_error(name_ + " does not end when it is asked to");
        }
        std::this_thread::sleep_for(1ms);
    }
    pid_ = 0;
    // One that was started a moment ago may not have come to expect the signal.
    const bool was_early = WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM;
    if (*status != 0 && !was_early) {
        throw std::runtime_error(name_ + ' ' + how_it_ended(*status));
    }
}

void worker_process::check()
{
    if (const auto status = status_of(pid_, WNOHANG)) {
        pid_ = 0;
        throw std::runtime_error(name_ + ' ' + how_it_ended(*status));
    }
}

} // namespace package_log
