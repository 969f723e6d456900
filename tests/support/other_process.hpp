#pragma once

#include "support/child_process.hpp"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace skein::support {

/// A SQLite connection in a real other process that knows nothing of skein: plain SQL, a busy
/// timeout of none. Every call returns when the other process has answered, so that what it did has
/// happened.
class other_process {
public:
    /// What SQLite refused over there, with its extended result code.
    struct refusal : std::runtime_error {
        refusal(int code, const std::string& message);
        int code;
    };

    /// Opens the file, and creates it when it is not there.
    explicit other_process(const std::filesystem::path& database);

    /// The same with another build of that program.
    other_process(const std::filesystem::path& program, const std::filesystem::path& database);

    /// Runs statements, which may not contain newlines. Returns the rows, their columns joined by
    /// "|", NULL as "NULL". Throws `refusal`.
    std::vector<std::string> sql(std::string_view statements);

    /// Takes the write lock, and gives it back by committing.
    void lock() { sql("BEGIN IMMEDIATE"); }
    void unlock() { sql("COMMIT"); }

    /// Takes the write lock, and commits after a while without being told to. Returns at once, with
    /// the lock held over there; the next call waits until it was given back.
    void lock_for(std::chrono::milliseconds while_);

    /// kill -9: nothing is closed, no transaction is ended over there.
    void kill() { process_.kill(); }

    [[nodiscard]] child_process& process() noexcept { return process_; }

private:
    std::vector<std::string> answer();

    child_process process_;
};

} // namespace skein::support
