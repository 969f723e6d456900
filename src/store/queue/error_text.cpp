#include "store/queue/error_text.hpp"

namespace skein::store {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t index)
{
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
}

bool is_continuation(unsigned byte)
{
    return (byte & 0xC0U) == 0x80U;
}

/// The bytes of the character that `text` begins with; 0 when that is none. The second byte decides
/// what is too long a form, a surrogate, or beyond the last character.
std::size_t character_length(std::string_view text)
{
    const unsigned first = byte_at(text, 0);
    const unsigned second = byte_at(text, 1);
    if (first < 0x80U) {
        return 1;
    }
    if (first < 0xC2U || first > 0xF4U || !is_continuation(second)) {
        return 0;
    }
    if (first < 0xE0U) {
        return 2;
    }
    const bool is_third = is_continuation(byte_at(text, 2));
    if (first < 0xF0U) {
        const bool is_allowed = first == 0xE0U   ? second >= 0xA0U
                                : first == 0xEDU ? second < 0xA0U
                                                 : true;
        return is_allowed && is_third ? 3 : 0;
    }
    const bool is_allowed = first == 0xF0U   ? second >= 0x90U
                            : first == 0xF4U ? second < 0x90U
                                             : true;
    return is_allowed && is_third && is_continuation(byte_at(text, 3)) ? 4 : 0;
}

} // namespace

std::string kept_error_text(std::string_view text)
{
    std::string kept;
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        const std::string_view next = length == 0 ? replacement : text.substr(0, length);
        if (kept.size() + next.size() > longest_error_text) {
            break;
        }
        kept += next;
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return kept;
}

} // namespace skein::store
