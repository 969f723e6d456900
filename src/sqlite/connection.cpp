#include "sqlite/connection.hpp"

namespace skein::sqlite {

void connection::execute(const std::string& sql) const
{
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw last_error();
    }
}

void connection::reset_statements() const noexcept
{
    for (sqlite3_stmt* each = sqlite3_next_stmt(handle_, nullptr); each != nullptr;
         each = sqlite3_next_stmt(handle_, each)) {
        if (sqlite3_stmt_busy(each) != 0) {
            sqlite3_reset(each);
        }
    }
}

bool connection::has_violated_foreign_keys() const noexcept
{
    int current = 0;
    int highest = 0;
    sqlite3_db_status(handle_, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0);
    return current != 0;
}

void connection::leave_log_behind() const noexcept
{
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

std::size_t connection::length_limit() const noexcept
{
    return static_cast<std::size_t>(sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, -1));
}

error connection::last_error() const
{
    return {sqlite3_extended_errcode(handle_), sqlite3_errmsg(handle_)};
}

} // namespace skein::sqlite
