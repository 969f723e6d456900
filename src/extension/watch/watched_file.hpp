#pragma once

#include "sqlite/data_version.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

namespace skein::extension {

/// A database file, and a connection of our own that sees what others commit to it. The file need
/// not be there yet. Confined to one thread.
class watched_file {
public:
    explicit watched_file(std::string path) : path_(std::move(path)) {}

    /// Whether others have committed since the last look, or may have. A lock of somebody else's
    /// tells nothing; the next look does. After any other failure of SQLite's, which counts as
    /// news, the connection is opened again, and that is news once more.
    [[nodiscard]] bool look();

    /// The next look opens the file again.
    void close() noexcept;

    /// While it is not, the file is not there, or there is a `failure`.
    [[nodiscard]] bool is_open() const noexcept { return connection_ != nullptr; }

    /// What SQLite says of a file that it cannot open or read; null when it can.
    [[nodiscard]] std::exception_ptr failure() const noexcept { return failure_; }

    /// After a failure, has the next look open the file at once.
    void retry_now() noexcept { next_try_ = {}; }

private:
    using steady_time = std::chrono::steady_clock::time_point;

    class own_connection {
    public:
        explicit own_connection(const std::string& path);
        own_connection(const own_connection&) = delete;
        own_connection& operator=(const own_connection&) = delete;
        ~own_connection();

        [[nodiscard]] sqlite::connection view() const noexcept
        {
            return sqlite::connection(handle_);
        }

    private:
        sqlite3* handle_ = nullptr;
    };

    [[nodiscard]] bool open();
    [[nodiscard]] bool has_changed();
    void fail() noexcept;

    std::string path_;
    std::unique_ptr<own_connection> connection_;
    std::optional<sqlite::data_version> version_; ///< of that connection
    std::optional<std::int64_t> seen_;            ///< nothing while locks have kept it from us
    std::exception_ptr failure_;
    steady_time next_try_{};
};

} // namespace skein::extension
