#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace skein::support {

/// A SQLite connection as any program would open one, with a busy timeout of a minute: for what
/// tests do beside the library, and to see what it has written.
class plain_connection {
public:
    explicit plain_connection(const std::filesystem::path& path);
    plain_connection(const plain_connection&) = delete;
    plain_connection& operator=(const plain_connection&) = delete;
    ~plain_connection();

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

    /// Runs statements. Returns the rows, their columns joined by "|", NULL as "NULL". Throws
    /// std::runtime_error.
    std::vector<std::string> sql(std::string_view statements) const;

    /// The one row of a query; throws when there are more or fewer.
    std::string value(std::string_view query) const;

private:
    sqlite3* handle_ = nullptr;
};

} // namespace skein::support
