#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skein::store {

/// The longest error text that is kept, in bytes.
inline constexpr std::size_t longest_error_text = 4096;

/// `text` as it is kept with a dead letter: cut to `longest_error_text` at the end of a character,
/// each byte that is not valid UTF-8 replaced by U+FFFD. It is what a failing handler says: it may
/// be of any length and in any encoding, and must not fail a second time.
[[nodiscard]] std::string kept_error_text(std::string_view text);

} // namespace skein::store
