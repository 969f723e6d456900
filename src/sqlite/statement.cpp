#include "sqlite/statement.hpp"

namespace skein::sqlite {

execution::~execution()
{
    sqlite3_reset(handle_);
    sqlite3_clear_bindings(handle_);
}

bool execution::step()
{
    const int code = sqlite3_step(handle_);
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code == SQLITE_DONE) {
        return false;
    }
    throw connection(sqlite3_db_handle(handle_)).last_error();
}

bool execution::is_null(int column) const noexcept
{
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

std::int64_t execution::integer(int column) const noexcept
{
    return sqlite3_column_int64(handle_, column);
}

double execution::real(int column) const noexcept
{
    return sqlite3_column_double(handle_, column);
}

std::string_view execution::text(int column) const noexcept
{
    // The pointer comes first: it decides the encoding that the length is counted in.
    const void* bytes = sqlite3_column_type(handle_, column) == SQLITE_BLOB
                            ? sqlite3_column_blob(handle_, column)
                            : static_cast<const void*>(sqlite3_column_text(handle_, column));
    const int length = sqlite3_column_bytes(handle_, column);
    return {static_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

statement::~statement()
{
    sqlite3_finalize(handle_);
}

int statement::steps() const noexcept
{
    return handle_ == nullptr ? 0 : sqlite3_stmt_status(handle_, SQLITE_STMTSTATUS_VM_STEP, 0);
}

void statement::prepare()
{
    if (handle_ != nullptr) {
        return;
    }
    const int code =
        sqlite3_prepare_v3(connection_.handle(), sql_.c_str(), static_cast<int>(sql_.size()) + 1,
                           SQLITE_PREPARE_PERSISTENT, &handle_, nullptr);
    if (code != SQLITE_OK) {
        throw connection_.last_error();
    }
}

void statement::bind(int index, std::int64_t value)
{
    if (sqlite3_bind_int64(handle_, index, value) != SQLITE_OK) {
        throw connection_.last_error();
    }
}

void statement::bind(int index, double value)
{
    if (sqlite3_bind_double(handle_, index, value) != SQLITE_OK) {
        throw connection_.last_error();
    }
}

void statement::bind(int index, std::string_view value)
{
    // A null pointer would bind NULL; an empty text is not that.
    const char* bytes = value.data() == nullptr ? "" : value.data();
    if (sqlite3_bind_text64(handle_, index, bytes, value.size(), SQLITE_STATIC, SQLITE_UTF8) !=
        SQLITE_OK) {
        throw connection_.last_error();
    }
}

void statement::bind(int index, std::nullopt_t)
{
    if (sqlite3_bind_null(handle_, index) != SQLITE_OK) {
        throw connection_.last_error();
    }
}

} // namespace skein::sqlite
