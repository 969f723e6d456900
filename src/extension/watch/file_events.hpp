#pragma once

#include <array>
#include <filesystem>
#include <string>

namespace skein::extension {

/// Tells that somebody has written to a database's file, its write-ahead log or its journal, or
/// that one of them has come or gone. It is a hint: it comes before a commit can be seen, or for
/// one that never comes; and it may be lost.
///
/// It opens none of the files: closing any descriptor of one would give up the locks that SQLite
/// holds on it for this process.
class file_events {
public:
    /// The directory must be there, the files need not. Throws `std::system_error`, also where the
    /// system has no such events.
    explicit file_events(const std::filesystem::path& database);
    file_events(const file_events&) = delete;
    file_events& operator=(const file_events&) = delete;
    ~file_events();

    /// Whether this system has them at all.
    [[nodiscard]] static bool are_there() noexcept;

    /// Readable when something has happened that was not taken yet.
    [[nodiscard]] int descriptor() const noexcept { return instance_; }

    /// Forgets what happened up to now. Returns whether something did.
    [[nodiscard]] bool take() noexcept;

private:
    void watch_files() noexcept;
    [[nodiscard]] bool is_ours(const char* name) const noexcept;

    int instance_ = -1;
    int directory_watch_ = -1;
    std::array<std::string, 3> files_;
    std::array<std::string, 3> names_;
};

} // namespace skein::extension
