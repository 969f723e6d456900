#pragma once

#include "sqlite/api.hpp"

#include <stdexcept>
#include <string>

namespace skein::sqlite {

/// A refusal of SQLite's, with its extended result code.
class error : public std::runtime_error {
public:
    error(int extended_code, const std::string& message)
        : std::runtime_error(message), extended_code_(extended_code)
    {
    }

    /// SQLite's extended result code, such as 517 for SQLITE_BUSY_SNAPSHOT.
    [[nodiscard]] int extended_code() const noexcept { return extended_code_; }

    /// The code without its extension, such as SQLITE_BUSY.
    [[nodiscard]] int primary_code() const noexcept { return extended_code_ & 0xff; }

    /// Somebody else holds a lock: nothing has happened, and trying again later can succeed.
    [[nodiscard]] bool is_busy() const noexcept { return primary_code() == SQLITE_BUSY; }

private:
    int extended_code_;
};

} // namespace skein::sqlite
