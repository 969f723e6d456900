#include <skein/testing/memory_database.hpp>

#include "runtime/failure.hpp"
#include "sqlite/connection.hpp"

#include <atomic>
#include <memory>
#include <string>

namespace skein::testing {

namespace {

/// A name that no other of this process has.
std::string next_name()
{
    static std::atomic<unsigned> made = 0;
    return "file:/skein-memory-" + std::to_string(++made) + "?vfs=memdb";
}

struct close_connection {
    void operator()(sqlite3* opened) const noexcept { sqlite3_close(opened); }
};

} // namespace

memory_database::memory_database() : path_(next_name())
{
    sqlite3* made = nullptr;
    const int code =
        sqlite3_open_v2(path_.c_str(), &made,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, nullptr);
    std::unique_ptr<sqlite3, close_connection> opened(made);
    if (code != SQLITE_OK) {
        throw runtime::to_error(sqlite::error(code, sqlite3_errstr(code)), path_.string());
    }
    kept_ = opened.release();
}

memory_database::~memory_database()
{
    sqlite3_close(kept_);
}

} // namespace skein::testing
