#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace skein {

/// How a type becomes a payload's text and back. <skein/json.hpp> gives it for `nlohmann::json` and
/// for every type that nlohmann's library can convert; specialise it for a format of your own:
///
///     template <> struct skein::payload_codec<reading> {
///         static std::string encode(const reading& value);
///         static reading decode(std::string_view text);
///     };
///
/// Both may throw; `skein::error` with `errc::invalid_payload` is what ours throws.
template <class Value>
struct payload_codec;

/// Types that can be published as they are. Text needs no codec.
template <class Value>
concept encodable =
    !std::convertible_to<const Value&, std::string_view> && requires(const Value& value) {
        { payload_codec<Value>::encode(value) } -> std::convertible_to<std::string>;
    };

} // namespace skein
