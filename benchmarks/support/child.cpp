#include "child.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace benchmarks {

namespace {

[[noreturn]] void run_and_exit(const std::function<void()>& work)
{
    int status = 0;
    try {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        status = 1;
    }
    // What the parent has buffered is the parent's to write.
    ::_exit(status);
}

} // namespace

child::child(const std::function<void()>& work) : id_(::fork())
{
    if (id_ < 0) {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (id_ == 0) {
        run_and_exit(work);
    }
}

child::~child()
{
    if (id_ > 0) {
        ::kill(id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
}

void child::wait()
{
    int status = 0;
    if (::waitpid(std::exchange(id_, 0), &status, 0) < 0 || status != 0) {
        throw std::runtime_error("a child process has failed");
    }
}

} // namespace benchmarks
