#include "store/json_text.hpp"

#include "store/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace skein::store {

namespace {

using nlohmann::json;

std::string place(std::string_view text, std::size_t byte)
{
    const std::string_view before = text.substr(0, byte);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n');
    const std::size_t column = line_start == std::string_view::npos ? byte + 1 : byte - line_start;
    return " at line " + std::to_string(line) + " column " + std::to_string(column);
}

[[noreturn]] void refuse_as_json(std::string_view text, std::size_t byte, const char* why)
{
    throw invalid_payload(std::string("payload must be valid JSON: ") + why + place(text, byte));
}

[[noreturn]] void refuse_to_decode(std::string_view text, std::size_t byte, const char* why)
{
    throw invalid_payload(std::string("payload is valid JSON but cannot be decoded: ") + why +
                          place(text, byte));
}

/// Whether the parser stopped at half of a surrogate pair. Its text tells, up to where it quotes
/// what it has read.
bool is_lone_surrogate(const std::exception& failure)
{
    const std::string_view said(failure.what());
    return said.substr(0, said.find("last read")).find("surrogate") != std::string_view::npos;
}

/// Follows the parser without building anything.
class checker {
public:
    explicit checker(std::string_view text) : text_(text) {}

    static bool null() { return true; }
    static bool boolean(bool) { return true; }
    static bool number_integer(json::number_integer_t) { return true; }
    static bool number_unsigned(json::number_unsigned_t) { return true; }
    static bool number_float(json::number_float_t, const std::string&) { return true; }
    static bool string(std::string&) { return true; }
    static bool binary(json::binary_t&) { return true; }
    static bool key(std::string&) { return true; }

    bool start_object(std::size_t) { return enter(); }
    bool start_array(std::size_t) { return enter(); }
    bool end_object() { return leave(); }
    bool end_array() { return leave(); }

    /// `position` counts the bytes read, the one that cannot stand there included.
    [[nodiscard]] bool parse_error(std::size_t position, const std::string&,
                                   const json::exception& failure) const
    {
        const std::size_t byte = std::min(position == 0 ? 0 : position - 1, text_.size());
        if (is_lone_surrogate(failure)) {
            refuse_to_decode(text_, byte, "half of a surrogate pair");
        }
        if (dynamic_cast<const json::out_of_range*>(&failure) != nullptr) {
            refuse_to_decode(text_, byte, "a number beyond the range of a double");
        }
        refuse_as_json(text_, byte, byte == text_.size() ? "it ends too early" : "syntax error");
    }

private:
    bool enter() { return ++depth_ <= deepest_json; }

    bool leave()
    {
        --depth_;
        return true;
    }

    std::string_view text_;
    int depth_ = 0;
};

} // namespace

void require_json(std::string_view text)
{
    // The parser would skip the one and end at the other.
    if (text.starts_with("\xEF\xBB\xBF")) {
        refuse_as_json(text, 0, "a byte order mark");
    }
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        refuse_as_json(text, nul, "a NUL byte");
    }
    checker check(text);
    if (!json::sax_parse(text.begin(), text.end(), &check)) {
        throw invalid_payload("payload is valid JSON but cannot be decoded: nesting deeper than " +
                              std::to_string(deepest_json));
    }
}

} // namespace skein::store
