#include "sqlite/file_identity.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace skein::sqlite {

file_identity::file_identity(std::string path) : path_(std::move(path))
{
    struct stat found = {};
    if (stat(path_.c_str(), &found) == 0) {
        is_known_ = true;
        device_ = found.st_dev;
        inode_ = found.st_ino;
    }
}

bool file_identity::is_replaced() const noexcept
{
    if (!is_known_) {
        return false;
    }
    struct stat found = {};
    if (stat(path_.c_str(), &found) != 0) {
        return errno == ENOENT || errno == ENOTDIR;
    }
    return found.st_dev != device_ || found.st_ino != inode_;
}

std::string database_file(connection owner)
{
    const char* const name = sqlite3_db_filename(owner.handle(), "main");
    return name == nullptr ? std::string() : std::string(name);
}

std::string write_ahead_log_file(connection owner)
{
    const std::string database = database_file(owner);
    return database.empty() ? database : database + "-wal";
}

bool has_moved(connection owner) noexcept
{
    int moved = 0;
    sqlite3_file_control(owner.handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

} // namespace skein::sqlite
