#pragma once

#include <filesystem>
#include <string_view>

namespace skein::support {

/// A fresh directory under the system's temporary one; removed at the end with all that is in it,
/// so that every test has its files to itself.
class temporary_directory {
public:
    temporary_directory();
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;
    ~temporary_directory();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const
    {
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

} // namespace skein::support
