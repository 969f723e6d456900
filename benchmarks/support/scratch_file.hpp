#pragma once

#include <filesystem>
#include <random>
#include <string>

namespace benchmarks {

/// A database file of its own, in the current directory (a temporary one may be in memory, where an
/// fsync costs nothing), and removed at the end.
class scratch_file {
public:
    scratch_file() : path_("benchmark-" + std::to_string(std::random_device{}()) + ".db") {}
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;

    ~scratch_file()
    {
        for (const char* suffix : {"", "-wal", "-shm"}) {
            std::filesystem::remove(path_ + suffix);
        }
    }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

} // namespace benchmarks
