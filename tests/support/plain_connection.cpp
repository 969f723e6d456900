#include "support/plain_connection.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace skein::support {

namespace {

int keep_row(void* kept, int columns, char** values, char** /*names*/)
{
    std::string row;
    for (int each = 0; each < columns; ++each) {
        row += each == 0 ? "" : "|";
        row += values[each] == nullptr ? "NULL" : values[each];
    }
    static_cast<std::vector<std::string>*>(kept)->push_back(std::move(row));
    return 0;
}

} // namespace

plain_connection::plain_connection(const std::filesystem::path& path)
{
    if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) {
        const std::string message = sqlite3_errmsg(handle_);
        sqlite3_close(handle_);
        throw std::runtime_error(message);
    }
    sqlite3_busy_timeout(handle_, 60'000);
    // No test cuts the power.
    sqlite3_exec(handle_, "PRAGMA synchronous = off", nullptr, nullptr, nullptr);
}

plain_connection::~plain_connection()
{
    sqlite3_close(handle_);
}

std::vector<std::string> plain_connection::sql(std::string_view statements) const
{
    std::vector<std::string> rows;
    const std::string text(statements);
    if (sqlite3_exec(handle_, text.c_str(), &keep_row, &rows, nullptr) != SQLITE_OK) {
        throw std::runtime_error(text + ": " + sqlite3_errmsg(handle_));
    }
    return rows;
}

std::string plain_connection::value(std::string_view query) const
{
    const std::vector<std::string> rows = sql(query);
    if (rows.size() != 1) {
        throw std::runtime_error(std::string(query) + ": " + std::to_string(rows.size()) + " rows");
    }
    return rows.front();
}

} // namespace skein::support
