#pragma once

#include <string_view>

namespace skein::store {

// Deeper than any message is, and shallow enough for every decoder's stack.
inline constexpr int deepest_json = 128;

/// Throws `store::invalid_payload` unless `text` is one JSON value that every strict decoder can
/// read: any value at the top, no byte order mark, no comments, valid UTF-8. Beyond the grammar it
/// refuses lone surrogates, numbers that a double cannot hold, and nesting deeper than
/// `deepest_json`.
///
/// The text of the error is "payload must be valid JSON: …", or "payload is valid JSON but cannot
/// be decoded: …", and ends in "at line 1 column N", counted in bytes from 1.
void require_json(std::string_view text);

} // namespace skein::store
