#include "runtime/failure.hpp"

#include "store/error.hpp"

#include <asio/error.hpp>

namespace skein::runtime {

error to_error(const sqlite::error& refusal, const std::string& file)
{
    errc code = errc::storage_failure;
    if (refusal.primary_code() == SQLITE_FULL) {
        code = errc::disk_full;
    } else if (refusal.primary_code() == SQLITE_TOOBIG) {
        code = errc::payload_too_large;
    } else if (refusal.extended_code() == SQLITE_READONLY_DBMOVED) {
        code = errc::file_replaced;
    }
    return {code,
            file + ": " + refusal.what() + " (SQLite " + std::to_string(refusal.extended_code()) +
                ")",
            refusal.extended_code()};
}

std::exception_ptr translate(std::exception_ptr thrown, const std::string& file)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const sqlite::error& refusal) {
        return std::make_exception_ptr(to_error(refusal, file));
    } catch (const store::invalid_argument& misuse) {
        return std::make_exception_ptr(error(errc::invalid_argument, misuse.what()));
    } catch (const store::schema_too_new& newer) {
        return std::make_exception_ptr(error(errc::schema_too_new, file + ": " + newer.what()));
    } catch (...) {
        return thrown;
    }
}

error closed_error(const std::string& file)
{
    return {errc::closed, file + ": the database is closed"};
}

error forked_error(const std::string& file)
{
    return {errc::forked, file + ": opened before the fork that made this process"};
}

error busy_error(const std::string& file)
{
    // Whether it is this process that waits for itself cannot be seen: SQLite's locks have no
    // names.
    return {errc::busy,
            file + ": another connection held the lock longer than busy_timeout. If it is one of "
                   "this process, with a transaction in which this was awaited: write on that "
                   "connection instead, with skein::enqueue(connection, ...) and its like of "
                   "<skein/outbox.hpp>",
            SQLITE_BUSY};
}

error inside_callback_error(const std::string& file, std::string_view instead)
{
    const std::string what_to_do =
        instead.empty() ? "await it after the callback" : "call " + std::string(instead);
    return {errc::invalid_argument, file +
                                        ": awaited inside a callback of this database, for whose "
                                        "end it would wait; " +
                                        what_to_do};
}

error file_replaced_error(const std::string& file)
{
    return {errc::file_replaced, file + ": replaced or deleted while it was open"};
}

std::exception_ptr cancelled_failure()
{
    return std::make_exception_ptr(std::system_error(asio::error::operation_aborted));
}

bool is_cancellation(const std::exception_ptr& failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (const std::system_error& told) {
        return told.code() == asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

bool is_final(const std::exception_ptr& failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (const error& told) {
        return told.code() == errc::closed || told.code() == errc::file_replaced ||
               told.code() == errc::forked || told.code() == errc::schema_too_new;
    } catch (...) {
        return is_cancellation(failure);
    }
}

} // namespace skein::runtime
