#pragma once

#include "sqlite/api.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace skein::extension {

class host;

/// An argument that a function does not accept; the text says which and what would be.
class bad_argument : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One call of a function from SQL: its arguments, its result, and where it is made. Indexes count
/// from 0.
class call {
public:
    call(sqlite3_context* context, std::string_view function,
         std::span<const std::string_view> parameters, sqlite3_value** arguments,
         extension::host& where) noexcept
        : context_(context), function_(function), parameters_(parameters), arguments_(arguments),
          where_(where)
    {
    }

    [[nodiscard]] std::string_view function() const noexcept { return function_; }
    [[nodiscard]] extension::host& where() const noexcept { return where_; }

    /// How many arguments there are: functions of one name may have several forms.
    [[nodiscard]] std::size_t count() const noexcept { return parameters_.size(); }

    // Texts are views of SQLite's, valid until the function returns. Nothing is converted, but for
    // floating-point numbers that are whole: some languages have no other numbers. Throw
    // `bad_argument`.

    [[nodiscard]] std::string_view text(std::size_t index) const;
    [[nodiscard]] std::int64_t integer(std::size_t index) const;
    /// Nothing for NULL.
    [[nodiscard]] std::optional<std::string_view> text_or_null(std::size_t index) const;
    [[nodiscard]] std::optional<std::int64_t> integer_or_null(std::size_t index) const;

    /// What time it is, as SQL on this connection tells it, in epoch seconds. Read once for a call.
    [[nodiscard]] std::int64_t now();

    void result(std::int64_t value) noexcept { sqlite3_result_int64(context_, value); }
    void result(bool value) noexcept { sqlite3_result_int(context_, value ? 1 : 0); }
    /// Copied.
    void result(std::string_view text) noexcept;
    void result(const std::string& text) noexcept { result(std::string_view(text)); }
    void result_null() noexcept { sqlite3_result_null(context_); }

private:
    [[nodiscard]] bool is_null(std::size_t index) const noexcept;
    [[nodiscard]] std::int64_t whole_number(std::size_t index) const;
    [[noreturn]] void refuse_type(std::size_t index, std::string_view accepted) const;
    [[noreturn]] void refuse_number(std::size_t index, const std::string& reason) const;

    sqlite3_context* context_;
    std::string_view function_;
    std::span<const std::string_view> parameters_;
    sqlite3_value** arguments_;
    extension::host& where_;
    std::optional<std::int64_t> now_;
};

} // namespace skein::extension
