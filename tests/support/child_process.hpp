#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::support {

/// Another process: a program that reads lines from its standard input and answers with lines on
/// its standard output. When this process dies, the other reads the end of its input.
///
/// The end of the object closes the child's input and waits for its end.
class child_process {
public:
    explicit child_process(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments = {});
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process();

    void write_line(std::string_view line);

    /// Waits for the next line. Nothing: the process has ended or closed its output.
    [[nodiscard]] std::optional<std::string> read_line();

    /// Closes the child's input, so that it ends by itself; its output can still be read.
    void close_input();

    /// kill -9, and waits until the process is gone.
    void kill();

    /// Waits for its end. Returns its exit status; minus the signal's number when one killed it.
    int wait();

    [[nodiscard]] pid_t id() const noexcept { return id_; }

private:
    pid_t id_ = -1;
    int socket_ = -1;
    std::optional<int> status_;
    std::string unread_;
};

} // namespace skein::support
