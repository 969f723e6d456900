#include "extension/call.hpp"

#include "extension/host.hpp"

#include <cmath>
#include <sstream>

namespace skein::extension {

namespace {

std::string_view name_of_type(int type)
{
    switch (type) {
    case SQLITE_INTEGER:
        return "Integer";
    case SQLITE_FLOAT:
        return "Real";
    case SQLITE_TEXT:
        return "Text";
    case SQLITE_BLOB:
        return "Blob";
    default:
        return "Null";
    }
}

std::string readable(double number)
{
    std::ostringstream text;
    text.precision(17);
    text << number;
    return text.str();
}

} // namespace

std::string_view call::text(std::size_t index) const
{
    if (sqlite3_value_type(arguments_[index]) != SQLITE_TEXT) {
        refuse_type(index, "a TEXT");
    }
    // The pointer comes first: it decides the encoding that the length is counted in.
    const unsigned char* const bytes = sqlite3_value_text(arguments_[index]);
    if (bytes == nullptr) {
        throw std::bad_alloc();
    }
    const int length = sqlite3_value_bytes(arguments_[index]);
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

std::int64_t call::integer(std::size_t index) const
{
    switch (sqlite3_value_type(arguments_[index])) {
    case SQLITE_INTEGER:
        return sqlite3_value_int64(arguments_[index]);
    case SQLITE_FLOAT:
        return whole_number(index);
    default:
        refuse_type(index, "an INTEGER");
    }
}

std::int64_t call::whole_number(std::size_t index) const
{
    const double number = sqlite3_value_double(arguments_[index]);
    if (!std::isfinite(number)) {
        refuse_number(index, readable(number) + " is not finite");
    }
    if (std::trunc(number) != number) {
        refuse_number(index, readable(number) + " has a fractional part");
    }
    constexpr double limit = 9223372036854775808.0; // the first that is too large
    if (number < -limit || number >= limit) {
        refuse_number(index, readable(number) + " is out of range");
    }
    return static_cast<std::int64_t>(number);
}

std::optional<std::string_view> call::text_or_null(std::size_t index) const
{
    return is_null(index) ? std::nullopt : std::optional(text(index));
}

std::optional<std::int64_t> call::integer_or_null(std::size_t index) const
{
    return is_null(index) ? std::nullopt : std::optional(integer(index));
}

bool call::is_null(std::size_t index) const noexcept
{
    return sqlite3_value_type(arguments_[index]) == SQLITE_NULL;
}

std::int64_t call::now()
{
    if (!now_) {
        now_ = where_.read_clock();
    }
    return *now_;
}

void call::result(std::string_view text) noexcept
{
    const char* const bytes = text.data() == nullptr ? "" : text.data();
    sqlite3_result_text64(context_, bytes, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void call::refuse_type(std::size_t index, std::string_view accepted) const
{
    const int given = sqlite3_value_type(arguments_[index]);
    throw bad_argument("Invalid function parameter type " + std::string(name_of_type(given)) +
                       " at index " + std::to_string(index) + ": " + std::string(function_) +
                       " accepts " + std::string(accepted) + " as " +
                       std::string(parameters_[index]));
}

void call::refuse_number(std::size_t index, const std::string& reason) const
{
    throw bad_argument(std::string(function_) + ": " + std::string(parameters_[index]) +
                       " at index " + std::to_string(index) + " must be a whole number; " + reason);
}

} // namespace skein::extension
