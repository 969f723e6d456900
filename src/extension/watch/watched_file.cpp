#include "extension/watch/watched_file.hpp"

#include "sqlite/file_identity.hpp"

#include <filesystem>

namespace skein::extension {

namespace {

/// Between two attempts to open a file that SQLite has refused.
constexpr std::chrono::milliseconds before_next_try{100};

bool is_there(const std::string& path)
{
    std::error_code unknown;
    // What cannot be told is left to SQLite, which can say why.
    return std::filesystem::status(path, unknown).type() != std::filesystem::file_type::not_found;
}

bool is_lock(const sqlite::error& refusal)
{
    return refusal.is_busy() || refusal.primary_code() == SQLITE_LOCKED;
}

} // namespace

watched_file::own_connection::own_connection(const std::string& path)
{
    // It may have to recover the file before it can read it. A cache that it shared would have it
    // see the program's own commits as its own.
    constexpr int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    const int code = sqlite3_open_v2(path.c_str(), &handle_, how, nullptr);
    if (code != SQLITE_OK) {
        const sqlite::error told =
            handle_ == nullptr ? sqlite::error(code, sqlite3_errstr(code)) : view().last_error();
        sqlite3_close(handle_);
        throw sqlite::error(told.extended_code(), told.what());
    }
    sqlite3_extended_result_codes(handle_, 1);
}

watched_file::own_connection::~own_connection()
{
    if (sqlite::has_moved(view())) {
        view().leave_log_behind(); // by its name, it is another file's by now
    }
    sqlite3_close(handle_);
}

bool watched_file::look()
{
    const bool was_open = is_open();
    try {
        return was_open ? has_changed() : open();
    } catch (const sqlite::error& refusal) {
        if (is_lock(refusal)) {
            return false;
        }
        fail();
        return was_open;
    }
}

void watched_file::close() noexcept
{
    version_.reset();
    connection_.reset();
    seen_.reset();
    failure_ = nullptr;
    next_try_ = {};
}

bool watched_file::open()
{
    if (std::chrono::steady_clock::now() < next_try_) {
        return false;
    }
    if (!is_there(path_)) {
        close();
        return false;
    }
    connection_ = std::make_unique<own_connection>(path_);
    version_.emplace(connection_->view());
    const bool is_news = has_changed();
    if (sqlite::has_moved(connection_->view())) {
        close(); // it has been replaced just now
        return false;
    }
    return is_news;
}

bool watched_file::has_changed()
{
    const std::int64_t now = version_->read();
    const bool is_news = now != seen_;
    seen_ = now;
    failure_ = nullptr;
    return is_news;
}

/// Only for those who handle a failure just now.
void watched_file::fail() noexcept
{
    close();
    failure_ = std::current_exception();
    next_try_ = std::chrono::steady_clock::now() + before_next_try;
}

} // namespace skein::extension
