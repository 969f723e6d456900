#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skein::support {

/// A SQLite connection of a program that loads the extension. It is closed as the program says,
/// since closing is what some tests are about; at the latest at the end of the object.
class host_connection {
public:
    explicit host_connection(const std::filesystem::path& path,
                             int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    {
        sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
        sqlite3_extended_result_codes(handle_, 1);
    }
    host_connection(const host_connection&) = delete;
    host_connection& operator=(const host_connection&) = delete;
    ~host_connection() { sqlite3_close_v2(handle_); }

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

    /// Returns what SQLite says to it: nothing, if it was loaded.
    std::string load(const std::filesystem::path& extension = SKEIN_EXTENSION)
    {
        sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
        char* said = nullptr;
        sqlite3_load_extension(handle_, extension.c_str(), nullptr, &said);
        const std::string text = said == nullptr ? "" : said;
        sqlite3_free(said);
        return text;
    }

    /// Runs statements. Returns the rows, their columns joined by "|", NULL as "NULL"; or one row,
    /// "error: …".
    std::vector<std::string> sql(const std::string& statements)
    {
        std::vector<std::string> rows;
        if (sqlite3_exec(handle_, statements.c_str(), keep_row, &rows, nullptr) != SQLITE_OK) {
            rows = {std::string("error: ") + sqlite3_errmsg(handle_)};
        }
        return rows;
    }

    /// The last row.
    std::string value(const std::string& statements)
    {
        const std::vector<std::string> rows = sql(statements);
        return rows.empty() ? "no row" : rows.back();
    }

    /// What sqlite3_close returns.
    int close()
    {
        const int code = sqlite3_close(handle_);
        if (code == SQLITE_OK) {
            handle_ = nullptr;
        }
        return code;
    }

    /// Closes it once its statements are finalized.
    void close_later() { sqlite3_close_v2(std::exchange(handle_, nullptr)); }

private:
    static int keep_row(void* kept, int columns, char** values, char** /*names*/)
    {
        std::string row;
        for (int each = 0; each < columns; ++each) {
            row += each == 0 ? "" : "|";
            row += values[each] == nullptr ? "NULL" : values[each];
        }
        static_cast<std::vector<std::string>*>(kept)->push_back(std::move(row));
        return 0;
    }

    sqlite3* handle_ = nullptr;
};

} // namespace skein::support
