#include "fill_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace benchmarks {

namespace {

void sync_file(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool is_synced = file >= 0 && ::fsync(file) == 0;
    ::close(file);
    if (!is_synced) {
        throw std::system_error(errno, std::generic_category(), path);
    }
}

/// Runs `work` without the file's indexes, and builds them afterwards: much faster.
void without_indexes(SQLite::Database& file, const std::function<void(SQLite::Database&)>& work)
{
    std::vector<std::string> statements;
    std::string drops;
    SQLite::Statement find(file, "SELECT sql, 'DROP INDEX ' || name || ';' FROM sqlite_schema"
                                 " WHERE type = 'index' AND sql IS NOT NULL");
    while (find.executeStep()) {
        statements.push_back(find.getColumn(0).getString());
        drops += find.getColumn(1).getString();
    }
    find.reset();
    file.exec(drops);
    work(file);
    for (const std::string& each : statements) {
        file.exec(each);
    }
}

} // namespace

void fill_file(const std::string& path, const std::function<void(SQLite::Database&)>& work)
{
    {
        SQLite::Database file(path, SQLite::OPEN_READWRITE);
        file.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                  "PRAGMA cache_size = -1000000; BEGIN");
        without_indexes(file, work);
        file.exec("COMMIT");
    }
    sync_file(path);
}

} // namespace benchmarks
