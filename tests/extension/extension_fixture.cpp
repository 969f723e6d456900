#include "extension/extension_fixture.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace skein::support {

std::filesystem::path extension_file()
{
    return SKEIN_EXTENSION;
}

extension_connection::extension_connection(const std::filesystem::path& path)
    : plain_connection(path)
{
    sqlite3_db_config(handle(), SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
    char* error = nullptr;
    if (sqlite3_load_extension(handle(), SKEIN_EXTENSION, nullptr, &error) != SQLITE_OK) {
        const std::string text = error == nullptr ? "no reason given" : error;
        sqlite3_free(error);
        throw std::runtime_error(text);
    }
}

std::string extension_connection::refusal(std::string_view statements) const
{
    try {
        sql(statements);
        return {};
    } catch (const std::runtime_error&) {
        return sqlite3_errmsg(handle());
    }
}

} // namespace skein::support
