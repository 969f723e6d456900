#include "support/child_process.hpp"

#include <csignal>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

extern char** environ;

namespace skein::support {

namespace {

void require(int code, const char* what)
{
    if (code != 0) {
        throw std::system_error(code, std::system_category(), what);
    }
}

pid_t start(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            int socket)
{
    std::string name = program.string();
    std::vector<std::string> copies = arguments;
    std::vector<char*> pointers{name.data()};
    for (std::string& each : copies) {
        pointers.push_back(each.data());
    }
    pointers.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    pid_t id = -1;
    const int code = posix_spawn(&id, name.c_str(), &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    require(code, name.c_str());
    return id;
}

} // namespace

child_process::child_process(const std::filesystem::path& program,
                             const std::vector<std::string>& arguments)
{
    int ends[2];
    // Closed on exec: a child that inherited another one's socket would keep it open.
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno,
            "socketpair");
    try {
        id_ = start(program, arguments, ends[1]);
    } catch (...) {
        close(ends[0]);
        close(ends[1]);
        throw;
    }
    close(ends[1]);
    socket_ = ends[0];
}

child_process::~child_process()
{
    close_input();
    try {
        wait();
    } catch (const std::system_error&) {
        // It is gone already.
    }
    close(socket_);
}

void child_process::write_line(std::string_view line)
{
    const std::string bytes = std::string(line) + '\n';
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t count = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        require(count < 0 ? errno : 0, "the other process does not listen");
        sent += static_cast<std::size_t>(count);
    }
}

std::optional<std::string> child_process::read_line()
{
    std::size_t end = unread_.find('\n');
    while (end == std::string::npos) {
        char bytes[4096];
        const ssize_t count = read(socket_, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return std::nullopt;
        }
        unread_.append(bytes, static_cast<std::size_t>(count));
        end = unread_.find('\n');
    }
    std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return line;
}

void child_process::close_input()
{
    shutdown(socket_, SHUT_WR);
}

void child_process::kill()
{
    if (!status_) {
        ::kill(id_, SIGKILL);
        wait();
    }
}

int child_process::wait()
{
    if (!status_) {
        int status = 0;
        while (waitpid(id_, &status, 0) < 0) {
            require(errno == EINTR ? 0 : errno, "waitpid");
        }
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    return *status_;
}

} // namespace skein::support
