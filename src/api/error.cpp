#include <skein/error.hpp>

#include "sqlite/api.hpp"

namespace skein {

namespace {

class skein_category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "skein"; }

    [[nodiscard]] std::string message(int value) const override
    {
        switch (static_cast<errc>(value)) {
        case errc::closed:
            return "the database is closed";
        case errc::invalid_argument:
            return "invalid argument";
        case errc::payload_too_large:
            return "payload too large";
        case errc::invalid_payload:
            return "invalid payload";
        case errc::busy:
            return "the file is locked";
        case errc::disk_full:
            return "the disk is full";
        case errc::storage_failure:
            return "SQLite refused";
        case errc::schema_too_new:
            return "the file was extended by a newer skein";
        case errc::file_replaced:
            return "the file was replaced or deleted";
        case errc::forked:
            return "the database belongs to the parent process";
        case errc::lagged:
            return "entries were removed before they were read";
        case errc::lock_lost:
            return "the lock was lost";
        }
        return "unknown error";
    }
};

} // namespace

const std::error_category& error_category() noexcept
{
    static const skein_category the_category;
    return the_category;
}

std::error_code make_error_code(errc code) noexcept
{
    return {static_cast<int>(code), error_category()};
}

error::error(errc code, const std::string& message, int sqlite_code)
    : std::system_error(make_error_code(code), message), sqlite_code_(sqlite_code)
{
}

lagged::lagged(const std::string& name, std::int64_t first, std::int64_t last)
    : error(errc::lagged, "'" + name + "': " + std::to_string(first) + " to " +
                              std::to_string(last) + " may be missing"),
      first_(first), last_(last)
{
}

bool error::is_retryable() const noexcept
{
    const int primary = sqlite_code_ & 0xff;
    return code() == errc::busy || primary == SQLITE_BUSY || primary == SQLITE_INTERRUPT;
}

} // namespace skein
